# `cmake --install`: program, library, headers and package files, and under share/napkin what the program reads and
# what people read.
include(CMakePackageConfigHelpers)
set(napkin_config_dir ${CMAKE_INSTALL_LIBDIR}/cmake/napkin)
set(napkin_data_dir ${CMAKE_INSTALL_DATADIR}/napkin)

install(TARGETS napkin_library EXPORT napkin_targets FILE_SET HEADERS)
install(EXPORT napkin_targets NAMESPACE napkin:: DESTINATION ${napkin_config_dir})
configure_package_config_file(cmake/napkin-config.cmake.in ${PROJECT_BINARY_DIR}/napkin-config.cmake
                              INSTALL_DESTINATION ${napkin_config_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/napkin-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/napkin-config.cmake ${PROJECT_BINARY_DIR}/napkin-config-version.cmake
        DESTINATION ${napkin_config_dir})

if(TARGET napkin)
  install(TARGETS napkin)
endif()
install(DIRECTORY hardware_profiles examples docs DESTINATION ${napkin_data_dir})
install(FILES src/diagram/prelude.nap README.md LICENSE DESTINATION ${napkin_data_dir})
install(PROGRAMS scripts/gate.sh DESTINATION ${napkin_data_dir})
