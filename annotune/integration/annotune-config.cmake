# annotune in a CMake project; docs/build.md tells more. After
#   find_package(annotune REQUIRED)      with -Dannotune_DIR="$(annotune build-dir)"
# there is
#   annotune_add(TARGET FILE… [TARGETS …] [RESULTS …] [FLAGS …] [OPTIONS …])
# Nothing is tuned by the build: each FILE is written by `annotune emit` when it has changed.

if(CMAKE_VERSION VERSION_LESS 3.20)
  set(annotune_FOUND FALSE)
  set(annotune_NOT_FOUND_MESSAGE "annotune needs CMake 3.20, and this is ${CMAKE_VERSION}")
  return()
endif()
# CMP0116: paths in files of dependencies are those of the binary folder, by all generators.
cmake_policy(VERSION 3.20)

find_program(ANNOTUNE_EXECUTABLE annotune DOC "The command annotune")
if(NOT ANNOTUNE_EXECUTABLE)
  set(annotune_FOUND FALSE)
  set(annotune_NOT_FOUND_MESSAGE "annotune is not on PATH; set ANNOTUNE_EXECUTABLE to it")
  return()
endif()

# Files of each target: the C file that replaces the user's comes first.
set(_annotune_files_openmp _omp.c)
set(_annotune_files_openacc _acc.c)
set(_annotune_files_openmp_target _omp_target.c)
set(_annotune_files_cuda _cuda.c .cu)

# Build FILE… for one of TARGETS (default: openmp) as a part of the CMake target TARGET: for the
# first that this build has a compiler for and RESULTS have a text of. Where there is none, a file
# is compiled as it is written.
#   RESULTS  the results.json of each file, in any order: they name their files
#   FLAGS    for the files' compiler, in place of those that RESULTS were measured with, or of -O3
#   OPTIONS  more options of `annotune emit`
function(annotune_add target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "TARGETS;RESULTS;FLAGS;OPTIONS")
  if(NOT TARGET ${target})
    message(FATAL_ERROR "annotune_add: there is no target '${target}'")
  endif()
  if(NOT arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "annotune_add(${target}): name the files to build")
  endif()
  if(NOT arg_TARGETS)
    set(arg_TARGETS openmp)
  endif()
  foreach(name IN LISTS arg_TARGETS)
    if(NOT DEFINED _annotune_files_${name})
      message(FATAL_ERROR "annotune_add(${target}): '${name}' is none of cuda, openacc, openmp, "
        "openmp_target")
    endif()
  endforeach()
  foreach(file IN LISTS arg_UNPARSED_ARGUMENTS)
    _annotune_add_file(${target} "${file}")
  endforeach()
endfunction()

function(_annotune_add_file target file)
  get_filename_component(source "${file}" ABSOLUTE)
  get_filename_component(folder "${source}" DIRECTORY)
  get_filename_component(stem "${source}" NAME_WE)
  if(NOT EXISTS "${source}")
    message(FATAL_ERROR "annotune_add(${target}): there is no file '${source}'")
  endif()
  _annotune_results(results "${stem}.c")
  _annotune_choice(chosen "${results}" ${stem})
  # The original may stand among the target's files already.
  get_target_property(sources ${target} SOURCES)
  if(sources)
    list(REMOVE_ITEM sources "${file}" "${source}")
    set_target_properties(${target} PROPERTIES SOURCES "${sources}")
  endif()
  if(NOT chosen)
    message(STATUS "annotune: ${file} is compiled as it is written: this build has no compiler for "
      "any of ${arg_TARGETS}, or the original won")
    target_sources(${target} PRIVATE "${source}")
    return()
  endif()
  _annotune_emission(written ${target} "${source}" ${chosen} "${results}")
  target_sources(${target} PRIVATE ${written})
  _annotune_flags(flags ${chosen} "${results}")
  foreach(one IN LISTS written)
    set_source_files_properties("${one}" TARGET_DIRECTORY ${target} PROPERTIES
      GENERATED TRUE INCLUDE_DIRECTORIES "${folder}")
    if(one MATCHES "\\.c$")
      set_source_files_properties("${one}" TARGET_DIRECTORY ${target} PROPERTIES
        COMPILE_OPTIONS "${flags}")
    endif()
  endforeach()
  target_link_libraries(${target} PRIVATE m)
  if(chosen STREQUAL "cuda")
    set_target_properties(${target} PROPERTIES LINKER_LANGUAGE CUDA)
  else()
    _annotune_directives(linked ${chosen})
    target_link_options(${target} PRIVATE ${linked})
  endif()
endfunction()

# Set `out` to the one of RESULTS that is of the C file `name`, empty without RESULTS.
function(_annotune_results out name)
  set(${out} "" PARENT_SCOPE)
  foreach(path IN LISTS arg_RESULTS)
    get_filename_component(path "${path}" ABSOLUTE)
    if(NOT EXISTS "${path}")
      message(FATAL_ERROR "annotune_add: there are no results '${path}'; `annotune run` writes them")
    endif()
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${path}")
    file(READ "${path}" text)
    string(JSON source ERROR_VARIABLE wrong GET "${text}" source)
    if(wrong)
      message(FATAL_ERROR "annotune_add: '${path}' is no results.json of annotune: ${wrong}")
    endif()
    if(source STREQUAL name)
      set(${out} "${path}" PARENT_SCOPE)
      return()
    endif()
  endforeach()
  if(arg_RESULTS)
    message(FATAL_ERROR "annotune_add: none of ${arg_RESULTS} is of ${name}")
  endif()
endfunction()

# Set `out` to the first of TARGETS that can be compiled here and has a text in `results`.
function(_annotune_choice out results stem)
  set(files "")
  if(results)
    file(READ "${results}" text)
    string(JSON files GET "${text}" files)
  endif()
  foreach(name IN LISTS arg_TARGETS)
    list(GET _annotune_files_${name} 0 suffix)
    string(FIND "${files}" "\"${stem}${suffix}\"" place)
    if(results AND place EQUAL -1)
      continue()
    endif()
    _annotune_has_compiler(has ${name})
    if(has)
      set(${out} ${name} PARENT_SCOPE)
      return()
    endif()
  endforeach()
  set(${out} "" PARENT_SCOPE)
endfunction()

# A macro: what find_package finds stays known to the function that asks.
macro(_annotune_has_compiler out name)
  set(${out} FALSE)
  if("${name}" STREQUAL "cuda")
    if(CMAKE_CUDA_COMPILER)
      set(${out} TRUE)
    endif()
  elseif("${name}" STREQUAL "openacc")
    find_package(OpenACC QUIET COMPONENTS C)
    set(${out} ${OpenACC_C_FOUND})
  else()
    find_package(OpenMP QUIET COMPONENTS C)
    set(${out} ${OpenMP_C_FOUND})
  endif()
endmacro()

# Set `out` to the files that `annotune emit` writes of a source for a target, and have it do so.
function(_annotune_emission out target source chosen results)
  get_filename_component(stem "${source}" NAME_WE)
  set(folder "${CMAKE_CURRENT_BINARY_DIR}/annotune/${target}/${stem}")
  set(written "")
  foreach(suffix IN LISTS _annotune_files_${chosen})
    list(APPEND written "${folder}/${stem}${suffix}")
  endforeach()
  set(from "")
  if(results)
    set(from --from "${results}")
  endif()
  set(folders "$<TARGET_PROPERTY:${target},INCLUDE_DIRECTORIES>")
  set(macros "$<TARGET_PROPERTY:${target},COMPILE_DEFINITIONS>")
  # A plain semicolon would cut these in pieces before they have a value.
  set(told "$<$<BOOL:${folders}>:-I$<JOIN:${folders},$<SEMICOLON>-I>>"
    "$<$<BOOL:${macros}>:-D$<JOIN:${macros},$<SEMICOLON>-D>>")
  # The text has what headers define, and is written again when one of them has changed.
  set(headers "")
  if(CMAKE_C_COMPILER_ID MATCHES "GNU|Clang|NVHPC")
    list(GET written 0 first)
    set(headers COMMAND "${CMAKE_C_COMPILER}" -MM -MG -MT "${first}" -MF "${first}.d" ${told}
      "${source}" DEPFILE "${first}.d")
  endif()
  add_custom_command(
    OUTPUT ${written}
    COMMAND "${ANNOTUNE_EXECUTABLE}" emit "${source}" -o "${folder}" --target ${chosen} ${from}
      ${told} ${arg_OPTIONS}
    ${headers}
    DEPENDS "${source}" ${results}
    WORKING_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}"
    COMMENT "Writing ${stem} for ${chosen} by annotune"
    COMMAND_EXPAND_LISTS VERBATIM)
  set(${out} "${written}" PARENT_SCOPE)
endfunction()

# Set `out` to the flags of the C compiler for a target's file.
function(_annotune_flags out chosen results)
  set(flags "${arg_FLAGS}")
  if(NOT flags)
    set(flags -O3)
    if(results AND CMAKE_C_COMPILER_ID MATCHES "GNU|Clang")
      _annotune_measured(measured ${chosen} "${results}")
      if(measured)
        set(flags "${measured}")
      endif()
    endif()
  endif()
  if(NOT chosen STREQUAL "cuda")
    _annotune_directives(own ${chosen})
    list(APPEND flags ${own})
  endif()
  set(${out} "${flags}" PARENT_SCOPE)
endfunction()

# Set `out` to the flags by which the C compiler, and the linker, take a target's directives.
function(_annotune_directives out chosen)
  _annotune_has_compiler(has ${chosen})
  if(chosen STREQUAL "openacc")
    separate_arguments(words UNIX_COMMAND "${OpenACC_C_FLAGS}")
  else()
    separate_arguments(words UNIX_COMMAND "${OpenMP_C_FLAGS}")
  endif()
  set(${out} "${words}" PARENT_SCOPE)
endfunction()

# Set `out` to the optimisation with which the text of a target was measured by the C compiler.
function(_annotune_measured out chosen results)
  file(READ "${results}" text)
  string(JSON command ERROR_VARIABLE wrong GET "${text}" commands ${chosen} 0)
  if(wrong)
    set(${out} "" PARENT_SCOPE)
    return()
  endif()
  separate_arguments(words UNIX_COMMAND "${command}")
  list(FILTER words INCLUDE REGEX "^-(O|m[a-z]|f)")
  list(FILTER words EXCLUDE REGEX "^-f(open|offload)")
  set(${out} "${words}" PARENT_SCOPE)
endfunction()
