// Summary: what the first page of a report says, computed once. Text, JSON and HTML print these numbers and no others,
// so that none of them is said with two values.
//
// The times are those of the launch as it is configured; bytes are of the whole launch, memory is of one block.
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
  std::string column;         // the array that it makes, as the derivation calls it: "S" for "S_sum"
  std::string result;         // "S"; "part of S" where a statement has several
  std::string first, second;  // "Q", "K"
  Unit unit = Unit::fma;
  Datatype type = Datatype::f32;       // in which it multiplies
  std::string instruction;             // "wgmma m64n128k16", with the columns that one has; empty off the matrix units
  std::int64_t rows = 0, of_rows = 0;  // of an instruction: those that are filled, and all; 0 where it is not known
  // Of an axis, what instructions compute of it beyond its size: d of 65 in steps of 16 is 80.
  struct Padded {
    std::string axis;
    std::int64_t size = 0, computed = 0;
  };
  std::vector<Padded> padded;  // empty where nothing is worth saying
  // Of an operand whose rows are no multiple of 16 bytes: along which axis they run, its size, and the next one that
  // would do.
  struct Unaligned {
    std::string array, axis;
    std::int64_t size = 0, next = 0;
    bool lacks_tma = false;    // which would copy it on this machine
    bool copied_ahead = true;  // as the kernel computes; not where rows are no multiple of 4 bytes
  };
  std::vector<Unaligned> unaligned;
  // Operands whose numbers share bytes: lanes take them apart, so no load runs ahead and no warpgroup multiplies them.
  std::vector<std::string> packed;
  // Operands whose numbers lanes read one by one, so that no warpgroup multiplies them: they are stored in another
  // format than they are multiplied in, or contracted along another axis than their last, in numbers not of 2 bytes.
  struct OneByOne {
    std::string array, axis;  // along which it is contracted; empty where that is the last
    Datatype stored = Datatype::f32, multiplied = Datatype::f32;
  };
  std::vector<OneByOne> one_by_one;
  int parts = 1;        // on the matrix units: instructions for each pair of operands, of which f32 is in two parts
  bool lost = false;    // off the matrix units, where two matrices meet
  std::string why;      // off the matrix units, or on them in parts: why,
  Fix mend;             // and the change of the diagram that mends it; without edits where it is not made of text
  Span span = nowhere;  // of the result's name
};
// The file of the statements, where edits are made of its text.
struct SourceText {
  std::uint32_t file = 0;
  std::string_view text;
};
std::vector<MatrixProduct> matrix_products(const Kernel&, const Hardware&, Model);
// Whatever kernel they are in, by the names of the diagram; without a machine on the formats of all matrix
// instructions.
std::vector<MatrixProduct> products_of(const Derivation&, const Hardware*, const std::optional<SourceText>& = {});
// Of them, those that no matrix unit runs, or that take several instructions for one.
std::vector<MatrixProduct> slow_products(const Derivation&, const Hardware&, const std::optional<SourceText>& = {});

// What keeps a diagram slower than it needs to be, whatever its tiles are: "O = P*V runs without matrix units".
struct Advice {
  Span span;
  std::string what, why;
  Fix mend;  // its title is empty where nothing mends it
};
std::vector<Advice> advice(const Sources&, const Derivation&, const Hardware*);

// Operations of products of matrices, or of everything where a plan has none on matrix units.
struct Operations {
  double useful = 0;                                       // each position that a mask lets through, once
  double executed = 0;                                     // with what is recomputed, or masked after it was computed
  std::vector<std::pair<std::string, double>> by_array{};  // of `useful`, by the array that it makes
};
Operations operations_of(const Kernel&, const KernelCost&, const Hardware&, bool of_products);

// What crosses from one memory to the next in a launch, both ways.
struct Crossing {
  std::string from, to;  // names of levels or caches: "gmem", "l2", "smem", "reg"
  double bytes = 0;
  struct OfArray {
    std::string array;
    double bytes = 0, times = 1;  // over the array's own size
    bool saved = false;
  };
  std::vector<OfArray> arrays;  // largest first; empty where instructions read parts of them
};
// Outermost first. A cache stands between the memory above the cores and theirs; below the cores stands what
// instructions read.
std::vector<Crossing> crossings(const Kernel&, const KernelCost&, const Hardware&, Model);

// "DRAM", "L2", "smem", "registers": what engineers call a level or a cache.
std::string memory_name(const std::string& level);

std::string bound_words(const KernelCost&);  // "l2 -> smem", "tensor"

// One reason why a launch takes as long as it does.
struct Cause {
  std::string what;
  double seconds = 0;
};
// They add up to the time of the launch, the one that bounds it first.
std::vector<Cause> causes(const KernelCost&, const std::optional<Launch>&, const Hardware&);

// How a block runs on a core; what is not known is 0.
struct BlockTile {
  std::string partition;        // as `--partition` takes it
  std::string groups, streams;  // of a block: "q 128, d' 64"; and of its loops, outermost first: "x by 64"
  std::int64_t blocks = 0, cores = 0, waves = 0, blocks_per_core = 0;
  double last_wave_busy = 1;
  std::int64_t warps = 0, warpgroups = 0;  // that compute; of a block
  bool copies = false;                     // one more warpgroup copies tiles
  std::int64_t stages = 1, cluster = 1;
  std::string overlap;  // in words
  std::int64_t registers_per_thread = 0, shared_bytes = 0;
};

// A tile of another size, and the time of the launch then.
struct OtherPiece {
  std::string axis;
  std::int64_t size = 0;
  std::optional<double> time_s;  // none where it cannot run
  std::string why_not{};
};

struct UnitTime {
  Unit unit = Unit::fma;
  double seconds = 0;  // at work, of a core on average
};

// Of a launch: of the memory above the cores, of the cache in front of theirs, and what instructions read.
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
// `configured`: how it runs on a core, where that is known; `of_products` as in Operations.
KernelSummary summarize(const Kernel&, const KernelCost&, const std::optional<Configuration>& configured,
                        const Hardware&, Model, bool of_products);

// A machine with twice as much of something, and the time with the same tiles.
struct Doubled {
  std::string what;  // "bandwidth of l2"
  double time_s = 0;
};

}  // namespace napkin
