// A partition: how a kernel is split over the levels of a machine. These are the labels that a person writes on the
// napkin.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "napkin/derive.hpp"
#include "napkin/hardware.hpp"
#include "napkin/syntax.hpp"

namespace napkin {

enum class SplitKind : std::uint8_t { group, stream };  // in space: side by side; in time: one after another

struct Split {
  SplitKind kind = SplitKind::group;
  WireId wire;
  std::int64_t size = 1;  // of one piece; ragged last pieces are legal
  std::size_t level = 1;  // index into Hardware::levels
  auto operator<=>(const Split&) const = default;
};

// Splits of the outermost level come first. Within a level, groups come in the order written, then streams with the
// outermost loop first.
struct Partition {
  std::vector<Split> splits;
  auto operator<=>(const Partition&) const = default;
};

// The wires of the streams, outermost first.
std::vector<WireId> streamed_wires(const Partition&);
// "group q 128, stream x 64 at smem; group q 16 at reg"
std::string to_text(const Partition&, const Diagram&, const Hardware&);

// The reasons why a partition is illegal for these statements on this machine, with the names of the file; empty if it
// is legal. Capacity is not checked here: not fitting is a result, not an error (cost.hpp).
std::vector<Refused> illegal(const Derivation&, const Hardware&, const Partition&);

// The partition that a person wrote, with its names resolved. If `diagnostics` has errors it must not be used.
Partition resolve_partition(const ast::Partition&, const Diagram&, const Hardware&, Diagnostics& diagnostics);

// Adds the reasons of illegal() to `diagnostics`, each at the label that it refuses. The partition was resolved from
// `labels`.
void report_illegal(const ast::Partition& labels, const Derivation&, const Hardware&, const Partition&,
                    Diagnostics& diagnostics);
// Adds one reason, at the label of a split.
void report_refused(const ast::Partition& labels, const Derivation&, const Hardware&, const Split&, const Refused&,
                    Diagnostics& diagnostics);

// Index of the first split that groups an axis along which the states of the parts have to be merged.
std::optional<std::size_t> merged_group(const Derivation&, const Partition&);

// A kernel with such a group, divided into two kernels: the first computes the parts, with `partition`; the second
// merges them. The division is refused if the parts would not be equal, if the states cannot be written as statements,
// or if the result does not depend on the parts.
struct DividedPartition {
  Diagram diagram;
  std::vector<StatementId> parts, merging;
  Partition partition;
};
std::variant<DividedPartition, Refused> divide(const Diagram&, const Derivation&, const Partition&, std::size_t group);

// One launch: fused statements, how they are split, and the loops that follow from it.
struct Kernel {
  std::shared_ptr<const Derivation> derivation;
  Partition partition;
  Program program;  // stream(*derivation, the partition's streams, outermost first)
};
struct Plan {
  std::vector<Kernel> kernels;  // in launch order; they share only arrays at the outermost level
  // For each kernel of warpgroups, the kernel of single warps that runs instead if its tiles cannot be copied as
  // warpgroups need them. Empty, or none for a kernel, if it was not planned.
  std::vector<std::optional<Kernel>> instead{};
};
// The kernel with a legal partition.
Kernel make_kernel(std::shared_ptr<const Derivation>, Partition);
// Records in the diagram the sizes that the kernel's streams assume: a stream takes positions of two axes in order
// together, which is correct only if both axes have the same size.
void assume_sizes(Diagram&, const Kernel&);
// Makes axes at least as long as their longest pieces, so that pieces count whole. Callers use this for decisions that
// must also hold for longer axes.
void allow_whole_pieces(Kernel&);

}  // namespace napkin
