// The state of printing one kernel, in any language: its text so far, and what names mean in it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "emit/shared/names.hpp"
#include "emit/shared/text.hpp"
#include "emit/shared/types.hpp"
#include "loops/walk.hpp"
#include "napkin/loops.hpp"

namespace napkin {

struct PrintedKernel {
  std::string name;
  std::string text;
  std::map<AxisId, std::int64_t> limits;  // longest axes that the text holds for
  std::vector<Traced> origins;            // which lines of the diagram's file the text comes from
};

struct CodePage {
  CodePage(Language, const LoopNest&, const CodeNames&);

  const Language language;
  const LoopNest& nest;
  const Diagram& diagram;
  const CodeNames& names;
  Lines out;
  Identifiers pool;
  std::vector<std::string> wires, counters, buffers;  // identifiers by id: `q`, `i_q`, `Q_smem`
  std::map<AxisId, std::int64_t> limits;              // longest axes that the text holds for
  TileSources sources;

  bool is_input(ArrayId id) const { return nest.is_input(id); }
  std::string outputs() const;  // "O, L", as the file names them
  const std::string& array(ArrayId id) const { return names.arrays.at(id.index); }
  const std::string& buffer(BufferId id) const { return buffers.at(id.index); }
  std::string size(WireId wire) const { return code_size(diagram, names, wire); }
  std::string_view storage(ArrayId) const;  // the type of a single number: "__half"
  std::string_view memory(ArrayId) const;   // the element type of the array: the same, unless its numbers share bytes
  const CodeType& type(BufferId) const;     // how the numbers of the buffer are read, written and rounded
  // The pointers to inputs and to the outputs, as parameters: "const float* __restrict__ A".
  std::vector<std::string> parameters(const std::vector<ArrayId>& inputs, std::string_view restricted) const;
  // The name of where the next piece of the wire begins: "q1".
  std::string begin_name(WireId);
  // The offset of a number in the array, from its place by dimension.
  std::string offset(ArrayId, const std::vector<std::string>& at) const;

  // Records that the text supports the wire's axis only up to its planned size.
  void limit(WireId);
  // Until the returned object is destroyed, lines are attributed to the declaration of the buffer's array, or to the
  // statement of a column.
  [[nodiscard]] Lines::From from(BufferId);
  [[nodiscard]] Lines::From from(const Compute&);
  // Declares a variable that tells whether a piece of a mask has an entry with the wanted value, and returns its name.
  // It is false until the code after it finds such an entry.
  std::string begin_ask(const MaskTest&);

  PrintedKernel printed(const std::string& name) const { return {name, out.text(), limits, out.origins()}; }

 private:
  std::map<WireId, int> splits_;  // how many pieces of a wire have a name
};

}  // namespace napkin
