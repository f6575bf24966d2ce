# `cpack`: a package for Debian and Ubuntu of the program, with what stands at other places there.
install(FILES ${napkin_printed}/napkin.zsh DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions RENAME _napkin
        COMPONENT debian EXCLUDE_FROM_ALL)
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/napkin RENAME copyright COMPONENT debian EXCLUDE_FROM_ALL)

if(NOT PROJECT_IS_TOP_LEVEL)
  return()
endif()
set(NAPKIN_MAINTAINER "The napkin authors <napkin@localhost>" CACHE STRING "Name and address of who maintains the package")
string(TIMESTAMP napkin_built "%a, %d %b %Y %H:%M:%S +0000" UTC) # SOURCE_DATE_EPOCH sets it
configure_file(cmake/changelog.in ${PROJECT_BINARY_DIR}/debian/changelog @ONLY)
find_program(napkin_gzip gzip)
if(napkin_gzip)
  execute_process(COMMAND ${napkin_gzip} -9nf ${PROJECT_BINARY_DIR}/debian/changelog)
  install(FILES ${PROJECT_BINARY_DIR}/debian/changelog.gz DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/napkin
          COMPONENT debian EXCLUDE_FROM_ALL)
endif()

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME napkin)
set(CPACK_PACKAGE_CONTACT "${NAPKIN_MAINTAINER}")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "derives fast kernels from diagrams")
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION
    "napkin takes an algorithm as plain mathematics, derives what may be grouped
and streamed, and finds the partition that moves the least or takes the least
time on a given machine. It prints kernels in CUDA and C++, and has a language
server for editors.")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ
                                                WORLD_EXECUTE)
set(CPACK_COMPONENTS_ALL program debian)
set(CPACK_COMPONENTS_GROUPING ALL_COMPONENTS_IN_ONE)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON) # needs dpkg-dev
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS librsvg2-bin) # pictures as PDF and PNG
include(CPack)
