# The pages of the manual and the completion scripts, printed by the program as soon as it is built.
set(napkin_printed ${CMAKE_CURRENT_BINARY_DIR}/printed)
add_custom_command(
  OUTPUT ${napkin_printed}/made
  COMMAND ${CMAKE_COMMAND} -D program=$<TARGET_FILE:napkin> -D folder=${napkin_printed} -P
          ${CMAKE_CURRENT_LIST_DIR}/print_manual.cmake
  DEPENDS napkin ${CMAKE_CURRENT_LIST_DIR}/print_manual.cmake
  VERBATIM)
add_custom_target(napkin_manual ALL DEPENDS ${napkin_printed}/made)

install(DIRECTORY ${napkin_printed}/man1 DESTINATION ${CMAKE_INSTALL_MANDIR} COMPONENT program)
install(FILES ${napkin_printed}/napkin.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions
        RENAME napkin COMPONENT program)
install(FILES ${napkin_printed}/napkin.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d
        COMPONENT program)
install(FILES ${napkin_printed}/napkin.zsh DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions RENAME _napkin
        COMPONENT zsh)
