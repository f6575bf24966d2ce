# Finds what napkin is built from, and says in one message what is missing and how to get it.
set(napkin_packages fmt yaml-cpp nlohmann_json CLI11)
set(napkin_debian_packages libfmt-dev libyaml-cpp-dev nlohmann-json3-dev libcli11-dev)
if(NAPKIN_TESTS)
  list(APPEND napkin_packages Catch2)
  list(APPEND napkin_debian_packages catch2)
endif()

set(napkin_missing)
set(napkin_missing_debian)
foreach(package debian_package IN ZIP_LISTS napkin_packages napkin_debian_packages)
  find_package(${package} QUIET)
  if(NOT ${package}_FOUND)
    list(APPEND napkin_missing ${package})
    list(APPEND napkin_missing_debian ${debian_package})
  endif()
endforeach()

if(napkin_missing)
  list(JOIN napkin_missing ", " napkin_missing)
  list(JOIN napkin_missing_debian " " napkin_missing_debian)
  message(FATAL_ERROR "napkin needs ${napkin_missing}. On Debian or Ubuntu:\n"
                      "  sudo apt-get install ${napkin_missing_debian}\n"
                      "Elsewhere install them by your package manager, or set CMAKE_PREFIX_PATH to where they are.")
endif()
