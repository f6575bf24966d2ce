// Summary: the contents of a report's first page, computed once. Text, JSON and HTML print these numbers and no others,
// so that a number has the same value everywhere.
//
// Times are those of the launch as configured; bytes are of the whole launch, memory is of one block.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "napkin/configure.hpp"

namespace napkin {

// A sum of products of two arrays, and the unit that runs it.
struct MatrixProduct {
  std::string column;         // the array that it makes, by its name in the derivation: "S" for "S_sum"
  std::string result;         // "S"; "part of S" where a statement has several
  std::string first, second;  // "Q", "K"
  Unit unit = Unit::fma;
  Datatype type = Datatype::f32;  // format of the multiplication
  std::string instruction;        // "wgmma m64n128k16", with the columns that one computes; empty off the matrix units
  std::int64_t rows = 0, of_rows = 0;  // of an instruction: those that are filled, and all; 0 if not known
  // An axis of which instructions compute more positions than its size: d of 65 in steps of 16 is computed as 80.
  struct Padded {
    std::string axis;
    std::int64_t size = 0, computed = 0;
  };
  std::vector<Padded> padded;  // empty if nothing is worth reporting
  // An operand whose rows are no multiple of 16 bytes: the axis along the rows, its size, and the next size that is
  // aligned.
  struct Unaligned {
    std::string array, axis;
    std::int64_t size = 0, next = 0;
    bool lacks_tma = false;    // TMA cannot copy it, as it otherwise would on this machine
    bool copied_ahead = true;  // while the kernel computes; false if rows are no multiple of 4 bytes
  };
  std::vector<Unaligned> unaligned;
  // Operands whose numbers share bytes. Lanes unpack them, so no load runs ahead and no warpgroup multiplies them.
  std::vector<std::string> packed;
  // Operands whose numbers lanes read one by one, so that no warpgroup multiplies them. They are stored in another
  // format than they are multiplied in, or they are contracted along an axis that is not their last, in a format that
  // does not have 2 bytes.
  struct OneByOne {
    std::string array, axis;  // that is contracted; empty if it is the last
    Datatype stored = Datatype::f32, multiplied = Datatype::f32;
  };
  std::vector<OneByOne> one_by_one;
  int parts = 1;  // on the matrix units: instructions for each pair of operands; 2 if an f32 operand is in two parts
  bool lost = false;    // a product of two matrices that no matrix unit runs
  std::string why;      // why it runs off the matrix units, or on them in parts
  Fix mend;             // the change of the diagram that helps; without edits if there is no source text
  Span span = nowhere;  // of the result's name
};
// The file of the statements, and its text, from which edits are made.
struct SourceText {
  std::uint32_t file = 0;
  std::string_view text;
};
std::vector<MatrixProduct> matrix_products(const Kernel&, const Hardware&, Model);
// The products of a derivation, whatever kernel they will be in, with the names of the diagram. Without a machine,
// matrix units have the formats of all matrix instructions.
std::vector<MatrixProduct> products_of(const Derivation&, const Hardware*, const std::optional<SourceText>& = {});
// Those of products_of that no matrix unit runs, or that need several instructions for each pair of operands.
std::vector<MatrixProduct> slow_products(const Derivation&, const Hardware&, const std::optional<SourceText>& = {});

// A reason why a diagram is slower than necessary with any tiles: "O = P*V runs without matrix units".
struct Advice {
  Span span;
  std::string what, why;
  Fix mend;  // its title is empty if nothing helps
};
std::vector<Advice> advice(const Sources&, const Derivation&, const Hardware*);

// Operations of products of matrices, or of everything if a plan has no products on matrix units.
struct Operations {
  double useful = 0;    // each position that masks let through counts once
  double executed = 0;  // including recomputed positions, and those masked after they were computed
  std::vector<std::pair<std::string, double>> by_array{};  // `useful` by the array that is made
};
Operations operations_of(const Kernel&, const KernelCost&, const Hardware&, bool of_products);

// Bytes between one memory and the next in a launch, in both directions.
struct Crossing {
  std::string from, to;  // names of levels or caches: "gmem", "l2", "smem", "reg"
  double bytes = 0;
  struct OfArray {
    std::string array;
    double bytes = 0, times = 1;  // `times`: bytes over the size of the array
    bool saved = false;
  };
  std::vector<OfArray> arrays;  // largest first; empty if instructions read parts of them
};
// Outermost first. A cache comes between the memory above the cores and that of the cores; the last crossing has the
// bytes that instructions read.
std::vector<Crossing> crossings(const Kernel&, const KernelCost&, const Hardware&, Model);

// The usual name of a level or a cache: "DRAM", "L2", "smem", "registers".
std::string memory_name(const std::string& level);

std::string bound_words(const KernelCost&);  // "l2 -> smem", "tensor"

// One reason why a launch takes as long as it does.
struct Cause {
  std::string what;
  double seconds = 0;
};
// The causes add up to the time of the launch; the bound comes first.
std::vector<Cause> causes(const KernelCost&, const std::optional<Launch>&, const Hardware&);

// How a block runs on a core; unknown numbers are 0.
struct BlockTile {
  std::string partition;        // as `--partition` takes it
  std::string groups, streams;  // the pieces of a block: "q 128, d' 64"; its loops, outermost first: "x by 64"
  std::int64_t blocks = 0, cores = 0, waves = 0, blocks_per_core = 0;
  double last_wave_busy = 1;
  std::int64_t warps = 0, warpgroups = 0;  // of a block, that compute
  bool copies = false;                     // one more warpgroup copies tiles
  std::int64_t stages = 1, cluster = 1;
  std::string overlap;  // in words
  std::int64_t registers_per_thread = 0, shared_bytes = 0;
};

// A tile of another size, and the time of the launch then.
struct OtherPiece {
  std::string axis;
  SplitKind kind = SplitKind::group;
  std::int64_t size = 0;
  std::optional<double> time_s;  // none if it cannot run
  std::string why_not{};
};

struct UnitTime {
  Unit unit = Unit::fma;
  double seconds = 0;  // busy, average over the cores
};

// Bytes of a launch: of the memory above the cores, of the cache in front of the cores, and those that instructions
// read.
struct MovedBytes {
  double dram = 0, registers = 0;
  std::optional<double> cache;
  void add(const MovedBytes&);
};
MovedBytes moved_bytes(const std::vector<Crossing>&, const Hardware&);

struct KernelSummary {
  std::vector<std::string> statements;
  std::optional<double> time_s;
  std::string bound;
  BlockTile tile;
  Operations operations;
  std::vector<std::string> again;  // why more is executed than is useful: "every group of d' computes S again"
  std::vector<Cause> causes;
  std::vector<Crossing> traffic;
  MovedBytes bytes;
  std::vector<UnitTime> units;
  std::vector<MatrixProduct> products;
  std::vector<OtherPiece> pieces;
};
// `configured`: how it runs on a core, if known. `of_products`: count operations of matrix products only.
KernelSummary summarize(const Kernel&, const KernelCost&, const std::optional<Configuration>& configured,
                        const Hardware&, Model, bool of_products);

// The time with the same tiles on a machine on which one number is doubled.
struct Doubled {
  std::string what;  // "bandwidth of l2"
  double time_s = 0;
};

}  // namespace napkin
