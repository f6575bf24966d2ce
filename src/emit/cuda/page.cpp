// The text of one CUDA kernel while it is printed, and what each name in it refers to.
#include "emit/cuda/page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "diagram/index.hpp"
#include "emit/shared/types.hpp"

namespace napkin {

Page::Page(const ThreadedKernel& threaded, const CodeNames& known)
    : CodePage(Language::cuda, threaded.nest, known), kernel(threaded) {
  for (std::uint32_t w = 0; w < diagram.wires.size(); ++w)
    own.push_back({"0", size(WireId{w}), diagram.size(WireId{w}).value_or(1), "0"});
  shared = own;
}

std::string Page::element(ArrayId id, const std::vector<std::string>& at) const {
  return code_element(diagram.at(id), array(id), offset(id, at));
}
std::string Page::address(ArrayId id, const std::vector<std::string>& at) const {
  if (!diagram.at(id).packed) return fmt::format("&{}[{}]", array(id), offset(id, at));
  return fmt::format("napkin_packed<{}>{{{}, {}}}", memory(id), array(id), offset(id, at));
}

Typed Page::read(ArrayId id, const std::string& stored) const {
  const auto type = diagram.at(id).type;
  return {filled(code_type(Language::cuda, type).read, stored),
          type == Datatype::boolean ? NumberKind::boolean : NumberKind::real};
}
std::string Page::written(ArrayId id, const std::string& value) const {
  const auto type = diagram.at(id).type;
  return code_as_stored(Language::cuda, type, without_brackets(filled(code_type(Language::cuda, type).write, value)));
}

void Page::open_function(const std::string& name, std::int64_t blocks, const std::vector<ArrayId>& inputs,
                         const std::vector<std::string>& more) {
  std::vector<std::string> all = {fmt::format("const {}_sizes n", names.diagram)};
  std::ranges::move(parameters(inputs, "__restrict__"), std::back_inserter(all));
  all.insert(all.end(), more.begin(), more.end());
  out.line("__global__ void __launch_bounds__({}, {})", kernel.threads, blocks);
  out.list(name + "(", all, ") {");
  out.deepen();
}

void Page::loop(const std::string& counter, std::int64_t count, bool unrolled) {
  out.line(unrolled ? "#pragma unroll" : "#pragma unroll 1");
  out.loop(counter, count);
}

void Page::declare_shared() {
  out.line("extern __shared__ __align__({}) unsigned char shared_memory[];", kernel.shared_alignment);
}
void Page::declare_in_shared(std::string_view type, std::string_view name, std::int64_t begin,
                             const std::string& comment) {
  out.line("{0}* const {1} = reinterpret_cast<{0}*>(shared_memory + {2});{3}{4}", type, name, begin,
           comment.empty() ? "" : "  // ", comment);
}

void Page::declare_buffers(const LoopBody& block, const std::function<std::string(BufferId)>& type_of,
                           const std::function<std::string(BufferId)>& declared) {
  std::map<std::string, std::vector<std::string>> by_type;
  for (const auto id : block.buffers) {
    scope[id] = nest.at(id).level <= kernel.block_level ? shared : own;
    if (const auto text = declared(id); !text.empty()) by_type[type_of(id)].push_back(text);
  }
  for (const auto& [type, together] : by_type) out.list(type + " ", together, ";");
}

void Page::limit(const Index& index, const WirePieces& pieces) {
  for (const auto& term : index.terms)
    if (pieces[term.first.index].is_whole()) limit(term.first);
}

std::string clamped(const std::string& position, const WirePiece& piece) {
  return fmt::format("min({}, {} - 1)", position, piece.end);
}

std::function<std::string(WireId, bool last)> ends(const WirePieces& pieces) {
  return [&](WireId wire, bool last) {
    const auto& piece = pieces[wire.index];
    return last ? fmt::format("({} - 1)", piece.end) : piece.begin;
  };
}

std::string corner(const Index& index, const WirePieces& pieces, bool past) {
  if (const auto wire = plain_wire(index)) return past ? pieces[wire->index].end : pieces[wire->index].begin;
  const auto text = code_end(index, past, [&](WireId wire, bool last) {
    return last ? pieces[wire.index].end + " - 1" : pieces[wire.index].begin;
  });
  return past ? text + " + 1" : text;
}
std::vector<std::string> corners(const std::vector<Index>& at, const WirePieces& pieces) {
  return texts_of(at, [&](const Index& index) { return corner(index, pieces, false); });
}

}  // namespace napkin
