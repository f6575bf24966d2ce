// How everything that can be called is called: of the file, of the prelude and of the language's tables.
#pragma once

#include <string>
#include <vector>

#include "lsp/reading.hpp"

namespace napkin::lsp {

struct Signature {
  std::string name;
  std::vector<std::string> axes, arguments;
  std::string summary;
};
// Own defs first; a name that is a reduction and a function stands twice.
std::vector<Signature> signatures(const Reading&);

std::string label(const Signature&);    // "softmax[a](s)"
std::string snippet(const Signature&);  // "softmax[${1:a}](${2:s})"

}  // namespace napkin::lsp
