// Exhaustive matching over a closed variant: the compiler reports a missing case.
#pragma once

#include <utility>
#include <variant>

namespace napkin {

template <class... Fs>
struct Match : Fs... {
  using Fs::operator()...;
};
template <class... Fs>
Match(Fs...) -> Match<Fs...>;

template <class Variant, class... Fs>
decltype(auto) match(Variant&& variant, Fs&&... functions) {
  return std::visit(Match{std::forward<Fs>(functions)...}, std::forward<Variant>(variant));
}

}  // namespace napkin
