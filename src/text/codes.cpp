// The table of diagnostics: E01xx text and syntax, E02xx names, axes, types and statements, E03xx partitions, E04xx
// hardware profiles, E05xx command line and files, E06xx limits, W.... warnings. Each row has a section in
// docs/diagnostics.md and a case in tests/golden/errors.
#include <algorithm>

#include "napkin/text.hpp"

namespace napkin {

const std::vector<Code>& codes() {
  using enum Severity;
  static const std::vector<Code> rows = {
      {"E0101", error, "not a UTF-8 text file"},
      {"E0102", error, "unexpected character"},
      {"E0103", error, "malformed number"},
      {"E0104", error, "number out of range"},
      {"E0105", error, "unexpected word or sign"},
      {"E0106", error, "bracket never closed"},
      {"E0107", error, "not a declaration"},
      {"E0108", error, "chained comparison"},
      {"E0109", error, "missing or repeated diagram line"},
      {"E0110", error, "reserved word used as a name"},
      {"E0111", error, "prime in a name"},
      {"E0201", error, "unknown axis"},
      {"E0202", error, "name declared twice"},
      {"E0203", error, "unknown array"},
      {"E0204", error, "axis neither kept nor reduced"},
      {"E0205", error, "unknown type"},
      {"E0206", error, "unknown function"},
      {"E0207", error, "wrong number of indices"},
      {"E0208", error, "wrong number of arguments"},
      {"E0209", error, "axes where none belong, or none where some do"},
      {"E0210", error, "size that is not a positive integer"},
      {"E0211", error, "index that is not affine"},
      {"E0212", error, "index leaves the array"},
      {"E0213", error, "array read before it is produced"},
      {"E0214", error, "missing or impossible output"},
      {"E0215", error, "condition and number mixed up"},
      {"E0216", error, "exponent that is not constant"},
      {"E0217", error, "def that calls itself"},
      {"E0218", error, "impossible density"},
      {"E0219", error, "def that reads what it is not given"},
      {"E0220", error, "axis named twice in one list"},
      {"W0221", warning, "declared and never used"},
      {"W0222", warning, "reduction over an axis that its body does not read"},
      {"W0223", warning, "position where a length is meant"},
      {"W0224", warning, "square array read with its axes exchanged"},
      {"E0301", error, "unknown axis in a partition"},
      {"E0302", error, "unknown level"},
      {"E0303", error, "label that is not legal"},
      {"E0304", error, "does not fit"},
      {"W0305", warning, "partition written for another target"},
      {"E0306", error, "label given twice"},
      {"E0307", error, "kernels that are no plan"},
      {"E0401", error, "profile that is not YAML"},
      {"E0402", error, "profile beyond a limit"},
      {"E0403", error, "YAML feature that profiles do not use"},
      {"E0404", error, "key given twice"},
      {"E0405", error, "unknown key"},
      {"E0406", error, "missing key"},
      {"E0407", error, "wrong kind of value"},
      {"E0408", error, "not a number"},
      {"E0409", error, "missing or wrong unit"},
      {"E0410", error, "number without origin or source"},
      {"E0411", error, "unknown source"},
      {"E0412", error, "impossible value"},
      {"E0413", error, "room that grows downwards"},
      {"W0414", warning, "bandwidth that shrinks downwards"},
      {"E0415", error, "numbers that contradict each other"},
      {"E0416", error, "unknown level or datatype"},
      {"E0417", error, "setting of an unknown number"},
      {"E0418", error, "unknown target"},
      {"E0419", error, "ambiguous target"},
      {"E0420", error, "text or name that a profile cannot have"},
      {"E0501", error, "setting of an unknown or impossible axis size"},
      {"E0502", error, "type that an input cannot get"},
      {"E0520", error, "unknown or missing command"},
      {"E0521", error, "unknown option"},
      {"E0522", error, "missing or superfluous argument"},
      {"E0523", error, "value that an option cannot have"},
      {"E0524", error, "unknown partition"},
      {"E0525", error, "unknown diagnostic"},
      {"E0526", error, "unknown statement"},
      {"E0527", error, "file that cannot be written"},
      {"E0530", error, "file that cannot be read"},
      {"E0531", error, "file that napkin did not write"},
      {"E0532", error, "unusable baseline"},
      {"E0533", error, "axis without a size"},
      {"E0534", error, "nothing to emit"},
      {"E0535", error, "baseline of something else"},
      {"E0536", error, "no baseline"},
      {"W0537", warning, "baseline of another version"},
      {"E0540", error, "gradient of or by what the diagram lacks"},
      {"E0541", error, "gradient by what does not matter"},
      {"E0542", error, "no derivative"},
      {"E0543", error, "nothing to save"},
      {"E0601", error, "too many errors"},
      {"E0602", error, "file too large"},
      {"E0603", error, "name too long"},
      {"E0604", error, "expression nested too deep"},
      {"E0605", error, "list too long"},
      {"E0606", error, "too many declarations"},
      {"E0607", error, "expression too large after its defs are expanded"},
      {"E0608", error, "array too large"},
  };
  return rows;
}

const Code* find_code(std::string_view code) {
  const auto found = std::find_if(codes().begin(), codes().end(), [=](const Code& row) { return row.code == code; });
  return found == codes().end() ? nullptr : &*found;
}

}  // namespace napkin
