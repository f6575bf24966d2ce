# Files of one stage are compiled several at a time: what they include takes most of the compiler's time. So names in
# the unnamed namespaces of a folder differ. A chart's sizes are its own and have the same names in each: charts are
# compiled one by one.
function(napkin_compile_together target files_at_once)
  get_target_property(sources ${target} SOURCES)
  foreach(source ${sources})
    if(NOT source MATCHES "\\.cpp$" OR source MATCHES "/chart/")
      continue()
    endif()
    get_filename_component(folder ${source} DIRECTORY)
    file(RELATIVE_PATH folder ${PROJECT_SOURCE_DIR}/src ${folder})
    string(MAKE_C_IDENTIFIER "${folder}" folder)
    math(EXPR count_${folder} "${count_${folder}} + 1")
    math(EXPR group "${count_${folder}} / ${files_at_once}")
    set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${folder}_${group})
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
endfunction()
