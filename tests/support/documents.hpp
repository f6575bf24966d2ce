// Documents: the code blocks of a Markdown text.
#pragma once

#include <string>
#include <vector>

// The blocks fenced as ```language, without their fences.
inline std::vector<std::string> code_blocks(const std::string& document, const std::string& language) {
  const std::string text = "\n" + document, fence = "\n```" + language + "\n";
  std::vector<std::string> blocks;
  for (auto at = text.find(fence); at != std::string::npos; at = text.find(fence, at)) {
    const auto begin = at + fence.size(), end = text.find("\n```", begin - 1);
    if (end == std::string::npos) break;
    blocks.push_back(text.substr(begin, end + 1 - begin));
    at = end + 4;
  }
  return blocks;
}
