// The page that the text of one kernel is written on, and what names mean there, in any language.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "emit/shared/names.hpp"
#include "emit/shared/text.hpp"
#include "loops/walk.hpp"
#include "napkin/loops.hpp"

namespace napkin {

struct PrintedKernel {
  std::string name;
  std::string text;
  std::map<AxisId, std::int64_t> limits;  // longest axes that the text holds for
  std::vector<Traced> origins;            // of lines of the text
};

struct CodePage {
  CodePage(const LoopNest&, const CodeNames&);

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
  // Where a number of the array stands in it, of its places by dimension.
  std::string offset(ArrayId, const std::vector<std::string>& at) const;

  // The text depends on how long the wire's axis is at most.
  void limit(WireId);
  // Lines come from where the buffer's array is declared, until what this returns ends.
  [[nodiscard]] Lines::From from(BufferId);
  // Declares whether a piece of a mask has an entry that is wanted: a name, false until the lines behind it find one.
  std::string begin_ask(const MaskTest&);

  PrintedKernel printed(const std::string& name) const { return {name, out.text(), limits, out.origins()}; }
};

}  // namespace napkin
