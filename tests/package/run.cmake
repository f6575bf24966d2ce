# Installs napkin into an empty prefix, builds and runs a project that finds it there, and runs the installed program
# from elsewhere: it must read the profiles of its own prefix, which has one that the source tree lacks.
# cmake -D build=DIR -D generator=NAME -D compiler=CXX -D flags=FLAGS -P run.cmake
set(work ${build}/package_test)
set(prefix ${work}/prefix)
file(REMOVE_RECURSE ${work})

function(run)
  execute_process(COMMAND ${ARGN} WORKING_DIRECTORY ${work} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT result EQUAL 0)
    list(JOIN ARGN " " command)
    message(FATAL_ERROR "${command}\nended with ${result}:\n${output}")
  endif()
endfunction()

file(MAKE_DIRECTORY ${work})
run(${CMAKE_COMMAND} --install ${build} --prefix ${prefix})
run(${CMAKE_COMMAND} -G ${generator} -S ${CMAKE_CURRENT_LIST_DIR} -B ${work}/consumer
    -D CMAKE_PREFIX_PATH=${prefix} -D CMAKE_CXX_COMPILER=${compiler} -D CMAKE_CXX_FLAGS=${flags})
run(${CMAKE_COMMAND} --build ${work}/consumer)
run(${work}/consumer/consumer)

set(profiles ${prefix}/share/napkin/hardware_profiles)
file(READ ${profiles}/two-level.yaml profile)
string(REPLACE "name: two-level" "name: only-here" profile "${profile}")
file(WRITE ${profiles}/only-here.yaml "${profile}")
run(${prefix}/bin/napkin derive ${prefix}/share/napkin/examples/attention.nap)
run(${prefix}/bin/napkin targets only-here)
