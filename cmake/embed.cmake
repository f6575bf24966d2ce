# Embeds text files into the library: napkin_embed(target function file) adds a source that defines
# `std::string_view napkin::function()`. A changed file runs the configuration again.
function(napkin_embed target function file)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
  file(READ ${file} text)
  set(generated ${CMAKE_CURRENT_BINARY_DIR}/embedded/${function}.cpp)
  file(CONFIGURE OUTPUT ${generated} @ONLY NEWLINE_STYLE LF CONTENT [[
#include <string_view>

namespace napkin {
std::string_view @function@();
std::string_view @function@() { return R"napkin_text(@text@)napkin_text"; }
}  // namespace napkin
]])
  target_sources(${target} PRIVATE ${generated})
endfunction()

napkin_embed(napkin_library prelude_text ${PROJECT_SOURCE_DIR}/src/diagram/prelude.nap)
napkin_embed(napkin_library diagnostics_text ${PROJECT_SOURCE_DIR}/docs/diagnostics.md)
napkin_embed(napkin_library page_style ${PROJECT_SOURCE_DIR}/src/pictures/page.css)
napkin_embed(napkin_library page_script ${PROJECT_SOURCE_DIR}/src/pictures/page.js)
# What emitted kernels call, as it is printed.
foreach(name bytes bytes_f8 clusters exponentials machine packed packed_rows packed_tiles pairs registers rows stores tiles warpgroups)
  napkin_embed(napkin_library cuda_${name} ${PROJECT_SOURCE_DIR}/src/emit/cuda/runtime/${name}.cuh)
endforeach()
