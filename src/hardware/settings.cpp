// A dotted path leads through the tree; its last part may be a key that the file leaves out. What may stand there, and
// with which unit, is the schema's affair: a setting is read like the file's own text.
#include "hardware/settings.hpp"

#include <fmt/format.h>

namespace napkin::profile {
namespace {

std::vector<std::string> keys(const Node& node) {
  std::vector<std::string> names;
  for (const Entry& entry : node.entries) names.push_back(entry.key);
  return names;
}

// The entry that `path` begins with; keys may hold dots themselves, so the longest wins.
Entry* first_entry(Node& node, std::string_view path) {
  Entry* found = nullptr;
  for (Entry& entry : node.entries) {
    const bool begins = path == entry.key || (path.starts_with(entry.key) && path[entry.key.size()] == '.');
    if (begins && (found == nullptr || found->key.size() < entry.key.size())) found = &entry;
  }
  return found;
}

// The short name's path, or the path itself.
std::string full_path(const Node& root, const std::string& path) {
  const Entry* parameters = root.find("parameters");
  const Entry* named = parameters == nullptr ? nullptr : parameters->value.find(path);
  return named == nullptr ? path : named->value.text;
}

std::vector<std::string> parameters_of(const Node& root) {
  const Entry* parameters = root.find("parameters");
  return parameters == nullptr ? std::vector<std::string>{} : keys(parameters->value);
}

class Setting {
 public:
  Setting(Node& root, std::uint32_t file, const std::string& path, const std::string& value)
      : root_(root), path_(full_path(root, path)), typed_{file, 0, static_cast<std::uint32_t>(path.size())} {
    const auto begin = static_cast<std::uint32_t>(path.size() + 1);
    value_ = Node(Node::Kind::text, {file, begin, begin + static_cast<std::uint32_t>(value.size())}, value);
    value_.exact = value_.given = true;
  }

  void apply(Diagnostics& diagnostics) {
    Node* node = &root_;
    std::string_view rest = path_;
    while (Entry* entry = first_entry(*node, rest)) {
      node = &entry->value;
      if (rest == entry->key) {
        *node = std::move(value_);
        return;
      }
      rest.remove_prefix(entry->key.size() + 1);
    }
    const bool absent_key = node != &root_ && node->kind == Node::Kind::map && rest.find('.') == std::string_view::npos;
    if (absent_key)
      node->entries.push_back({std::string(rest), typed_, std::move(value_)});
    else
      refuse(*node, rest, diagnostics);
  }

 private:
  void refuse(const Node& node, std::string_view rest, Diagnostics& diagnostics) {
    std::vector<std::string> names = keys(node);
    if (&node == &root_)
      for (std::string& parameter : parameters_of(root_)) names.push_back(std::move(parameter));
    const std::string_view part = rest.substr(0, rest.find('.'));
    const std::string near = nearest(part, names);
    const std::string before = path_.substr(0, path_.size() - rest.size());
    diagnostics.add(problem("E0417", fmt::format("the target has no number `{}`", path_), typed_,
                            near.empty() ? "`napkin targets NAME` shows the path of every number"
                                         : fmt::format("did you mean `{}{}`?", before, near)));
  }

  Node& root_;
  std::string path_;
  Span typed_;
  Node value_;
};

}  // namespace

void apply(const std::vector<std::pair<std::string, std::string>>& settings, Node& root, Sources& sources,
           Diagnostics& diagnostics) {
  for (const auto& [path, value] : settings) {
    const std::uint32_t file = sources.add("--set-target", fmt::format("{}={}", path, value));
    Setting(root, file, path, value).apply(diagnostics);
  }
}

}  // namespace napkin::profile
