// A partition: how a kernel is split over the levels of a machine. The labels a person writes on the napkin.
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

// Outermost level first; within a level groups in the order written, then streams with the outermost loop first.
struct Partition {
  std::vector<Split> splits;
  auto operator<=>(const Partition&) const = default;
};

// "group q 128, stream x 64 at smem; group q 16 at reg"
std::string to_text(const Partition&, const Diagram&, const Hardware&);

// Why a partition may not be used for these statements on this machine, in the words of the file; empty if it may.
// Capacity is not asked here: not fitting is a result, not an error (cost.hpp).
std::vector<Refused> illegal(const Derivation&, const Hardware&, const Partition&);

// The partition that a person wrote, names looked up. With errors in `diagnostics` it must not be used.
Partition resolve_partition(const ast::Partition&, const Diagram&, const Hardware&, Diagnostics& diagnostics);

// The reasons of illegal() as diagnostics, each at the label that it refuses; `labels` are what the partition was
// resolved from.
void report_illegal(const ast::Partition& labels, const Derivation&, const Hardware&, const Partition&,
                    Diagnostics& diagnostics);
// One reason, at the label of a split.
void report_refused(const ast::Partition& labels, const Derivation&, const Hardware&, const Split&, const Refused&,
                    Diagnostics& diagnostics);

// The first group of an axis that the kernel streams, whose parts have to be merged.
std::optional<std::size_t> merged_group(const Derivation&, const Partition&);

// A kernel with such a group as two: its parts, with what the partition becomes for them, and what merges them. Refused
// where the parts would not be equal.
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
  // Of each kernel that warpgroups run: what single warps run where its tiles cannot be copied as warpgroups
  // want them. Empty, or none, where nobody planned it.
  std::vector<std::optional<Kernel>> instead{};
};
// The kernel of a legal partition.
Kernel make_kernel(std::shared_ptr<const Derivation>, Partition);
// A diagram for which the kernel is right takes for granted the sizes that the kernel's streams rest on: positions of
// two axes can be taken in order together only if there are as many of both.
void assume_sizes(Diagram&, const Kernel&);
// Axes become as long as their longest pieces, which then count whole: for what must hold for longer axes, too.
void allow_whole_pieces(Kernel&);

}  // namespace napkin
