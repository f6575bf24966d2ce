// Every public header, and one function that needs the library and what it is linked with.
#include <napkin/loops.hpp>
#include <napkin/search.hpp>
#include <napkin/syntax.hpp>

int main() {
  napkin::Sources sources;
  napkin::Diagnostics diagnostics;
  const auto file = sources.add("one.nap", "diagram one\naxis a = 2\ninput A: f32[a]\nB[a] = A[a]\noutput B\n");
  return napkin::parse(sources, file, diagnostics).diagram.text == "one" && !diagnostics.has_errors() ? 0 : 1;
}
