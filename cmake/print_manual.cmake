# Writes man1/*.1.gz (or *.1 where there is no gzip) and the completion scripts.
# cmake -D program=NAPKIN -D folder=DIR -P print_manual.cmake
file(REMOVE_RECURSE ${folder})
file(MAKE_DIRECTORY ${folder}/man1)

foreach(shell bash zsh fish)
  execute_process(COMMAND ${program} completion ${shell} -o ${folder}/napkin.${shell} COMMAND_ERROR_IS_FATAL ANY)
endforeach()

execute_process(COMMAND ${program} man --quiet OUTPUT_VARIABLE pages COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "[^\n]+" pages "${pages}")
find_program(gzip gzip)
foreach(page ${pages})
  execute_process(COMMAND ${program} man ${page} -o ${folder}/man1/${page}.1 COMMAND_ERROR_IS_FATAL ANY)
  if(gzip)
    execute_process(COMMAND ${gzip} -9n ${folder}/man1/${page}.1 COMMAND_ERROR_IS_FATAL ANY)
  endif()
endforeach()
file(TOUCH ${folder}/made)
