// yaml-cpp's events become a tree. Limits come first, so that no text, however hostile, costs more than its length:
// size and encoding are checked before yaml-cpp sees a byte, nesting at the moment a level opens.
#include "hardware/yaml.hpp"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <sstream>

#include "text/limits.hpp"
#include "text/utf8.hpp"

namespace napkin::profile {
namespace {

constexpr std::size_t deepest_nesting = 32;
constexpr std::size_t most_keys = 2000;
constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

// Ends the reading; caught in read_yaml and nowhere else.
struct Stop {
  Diagnostic diagnostic;
};

std::uint32_t offset_of(std::size_t position) { return static_cast<std::uint32_t>(position); }

class Builder final : public YAML::EventHandler {
 public:
  Builder(std::string_view text, std::uint32_t file, std::size_t start, Diagnostics& diagnostics)
      : text_(text), file_(file), start_(start), diagnostics_(diagnostics) {}

  std::optional<Node> take() { return std::move(root_); }

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (documents_++ > 0) stop("E0403", "a profile is one document", at(mark), "remove the `---` and what follows it");
  }
  void OnDocumentEnd() override {}
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override { refuse_anchor(mark); }
  void OnAnchor(const YAML::Mark& mark, const std::string&) override { refuse_anchor(mark); }
  void OnNull(const YAML::Mark& mark, YAML::anchor_t) override { put(Node(Node::Kind::empty, at(mark))); }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t, const std::string& value) override {
    refuse_tag(mark, tag);
    put(scalar(mark, value));
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t,
                       YAML::EmitterStyle::value) override {
    open(mark, tag, Node::Kind::list);
  }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t, YAML::EmitterStyle::value) override {
    open(mark, tag, Node::Kind::map);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapEnd() override { close(); }

 private:
  struct Frame {
    Node node;
    std::map<std::string, Span> keys;
    bool value_next = false;
  };

  [[noreturn]] void stop(std::string_view code, std::string message, Span span, std::string help) {
    throw Stop{problem(code, std::move(message), span, std::move(help))};
  }
  void refuse_anchor(const YAML::Mark& mark) {
    stop("E0403", "anchors and aliases are not used in profiles", at(mark), "write the value out where it is needed");
  }
  void refuse_tag(const YAML::Mark& mark, const std::string& tag) {
    const bool none = tag.empty() || tag == "?" || tag == "!";  // yaml-cpp's words for untagged plain and quoted text
    if (!none) stop("E0403", fmt::format("tag `{}` has no meaning in a profile", tag), at(mark), "remove the tag");
  }

  Span at(const YAML::Mark& mark, std::size_t length = 1) const {
    const std::size_t begin = std::min(start_ + static_cast<std::size_t>(std::max(mark.pos, 0)), text_.size());
    return {file_, offset_of(begin), offset_of(std::min(begin + length, text_.size()))};
  }
  Node scalar(const YAML::Mark& mark, const std::string& value) const;

  void open(const YAML::Mark& mark, const std::string& tag, Node::Kind kind) {
    refuse_tag(mark, tag);
    if (frames_.size() == deepest_nesting)
      stop("E0402", fmt::format("a profile nests at most {} deep", deepest_nesting), at(mark), "");
    const Span named =
        frames_.empty() || !frames_.back().value_next ? at(mark) : frames_.back().node.entries.back().key_span;
    frames_.push_back({Node(kind, named), {}, false});
  }
  void close() {
    Node node = std::move(frames_.back().node);
    frames_.pop_back();
    put(std::move(node));
  }
  void put(Node node) {
    if (frames_.empty()) {
      root_ = std::move(node);
      return;
    }
    Frame& frame = frames_.back();
    if (frame.node.kind == Node::Kind::list) {
      frame.node.items.push_back(std::move(node));
    } else if (frame.value_next) {
      if (node.kind == Node::Kind::empty) node.span = frame.node.entries.back().key_span;
      frame.node.entries.back().value = std::move(node);
      frame.value_next = false;
    } else {
      put_key(frame, node);
    }
  }
  void put_key(Frame& frame, const Node& key) {
    if (++keys_ > most_keys) stop("E0402", fmt::format("a profile has at most {} keys", most_keys), key.span, "");
    if (key.kind != Node::Kind::text) stop("E0407", "a key is a word", key.span, "");
    const auto [first, fresh] = frame.keys.emplace(key.text, key.span);
    if (!fresh)
      diagnostics_.add(problem("E0404", fmt::format("key `{}` is given twice", key.text), key.span, "keep one of them",
                               {{first->second, "first given here"}}));
    frame.node.entries.push_back({key.text, key.span, {}});
    frame.value_next = true;
  }

  std::string_view text_;
  std::uint32_t file_;
  std::size_t start_;  // where yaml-cpp's position 0 is
  Diagnostics& diagnostics_;
  int documents_ = 0;
  std::size_t keys_ = 0;
  std::vector<Frame> frames_;
  std::optional<Node> root_;
};

// yaml-cpp gives only the beginning of a scalar. A plain one on one line, and a quoted one without escapes, stand in
// the text as they are; of any other the first line is pointed at.
Node Builder::scalar(const YAML::Mark& mark, const std::string& value) const {
  Node node(Node::Kind::text, at(mark), value);
  const std::size_t begin = node.span.begin;
  const bool quoted = begin < text_.size() && (text_[begin] == '"' || text_[begin] == '\'');
  const std::size_t inside = begin + (quoted ? 1 : 0);
  node.exact = inside <= text_.size() && text_.substr(inside, value.size()) == value;
  if (node.exact)
    node.span = {file_, offset_of(inside), offset_of(inside + value.size())};
  else
    node.span.end = std::max(node.span.end, offset_of(std::min(text_.find_first_of("\r\n", begin), text_.size())));
  return node;
}

std::string lower_first(std::string message) {
  if (!message.empty()) message[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(message[0])));
  return message;
}

bool is_text(std::string_view text, std::uint32_t file, Diagnostics& diagnostics) {
  if (text.size() > limits::file_bytes) {
    diagnostics.add(problem(
        "E0602", fmt::format("a profile has at most {} bytes, and this file {}", limits::file_bytes, text.size()),
        {file, 0, 0}));
    return false;
  }
  const std::optional<std::size_t> binary = find_not_text(text);
  if (!binary) return true;
  diagnostics.add(problem("E0101",
                          fmt::format("byte 0x{:02x} is no UTF-8 text", static_cast<unsigned char>(text[*binary])),
                          {file, offset_of(*binary), offset_of(*binary + 1)}, "a profile is a YAML file in UTF-8"));
  return false;
}

}  // namespace

Entry* Node::find(std::string_view key) {
  const auto found = std::find_if(entries.begin(), entries.end(), [&](const Entry& entry) { return entry.key == key; });
  return found == entries.end() ? nullptr : &*found;
}

Node::Node(Kind its_kind, Span its_span, std::string its_text)
    : kind(its_kind), span(its_span), text(std::move(its_text)) {}

const Entry* Node::find(std::string_view key) const { return const_cast<Node*>(this)->find(key); }

Span Node::part(std::size_t offset, std::size_t length) const {
  if (!exact) return span;
  return {span.file, offset_of(span.begin + offset), offset_of(span.begin + offset + length)};
}

std::optional<Node> read_yaml(const Sources& sources, std::uint32_t file, Diagnostics& diagnostics) {
  const std::string_view text = sources.at(file).text;
  if (!is_text(text, file, diagnostics)) return std::nullopt;
  const std::size_t start = text.starts_with(byte_order_mark) ? byte_order_mark.size() : 0;
  std::istringstream stream{std::string(text.substr(start))};
  Builder builder(text, file, start, diagnostics);
  try {
    YAML::Parser parser(stream);
    while (parser.HandleNextDocument(builder)) {
    }
    return builder.take().value_or(Node(Node::Kind::empty, {file, 0, 0}));
  } catch (const Stop& refused) {
    diagnostics.add(refused.diagnostic);
  } catch (const YAML::Exception& failure) {
    const std::size_t place = std::min(start + static_cast<std::size_t>(std::max(failure.mark.pos, 0)), text.size());
    diagnostics.add(problem("E0401", "not valid YAML: " + lower_first(failure.msg),
                            {file, offset_of(place), offset_of(std::min(place + 1, text.size()))}));
  }
  return std::nullopt;
}

}  // namespace napkin::profile
