# `cmake --install`: the program with its manual and completions, library, headers and package files, and under
# share/napkin what the program reads and what people read. `cpack` makes a package for Debian of the program's part.
include(CMakePackageConfigHelpers)
set(napkin_config_dir ${CMAKE_INSTALL_LIBDIR}/cmake/napkin)
set(napkin_data_dir ${CMAKE_INSTALL_DATADIR}/napkin)

install(TARGETS napkin_library EXPORT napkin_targets COMPONENT development FILE_SET HEADERS COMPONENT development)
install(EXPORT napkin_targets NAMESPACE napkin:: DESTINATION ${napkin_config_dir} COMPONENT development)
configure_package_config_file(cmake/napkin-config.cmake.in ${PROJECT_BINARY_DIR}/napkin-config.cmake
                              INSTALL_DESTINATION ${napkin_config_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/napkin-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/napkin-config.cmake ${PROJECT_BINARY_DIR}/napkin-config-version.cmake
        DESTINATION ${napkin_config_dir} COMPONENT development)

install(DIRECTORY hardware_profiles examples docs DESTINATION ${napkin_data_dir} COMPONENT program
        PATTERN .gitignore EXCLUDE)
install(FILES src/diagram/prelude.nap README.md LICENSE DESTINATION ${napkin_data_dir} COMPONENT program)
install(PROGRAMS scripts/gate.sh DESTINATION ${napkin_data_dir} COMPONENT program)

if(TARGET napkin)
  install(TARGETS napkin COMPONENT program)
  include(cmake/manual.cmake)
  include(cmake/package.cmake)
endif()
