# The version of annotune, for find_package(annotune VERSION): the same major one will do.
file(STRINGS "${CMAKE_CURRENT_LIST_DIR}/../__init__.py" _line REGEX "^__version__ = ")
string(REGEX MATCH "[0-9]+\\.[0-9]+\\.[0-9]+" PACKAGE_VERSION "${_line}")
string(REGEX MATCH "^[0-9]+" _own "${PACKAGE_VERSION}")
if(PACKAGE_VERSION VERSION_LESS PACKAGE_FIND_VERSION
    OR NOT PACKAGE_FIND_VERSION_MAJOR STREQUAL _own)
  set(PACKAGE_VERSION_COMPATIBLE FALSE)
else()
  set(PACKAGE_VERSION_COMPATIBLE TRUE)
  if(PACKAGE_FIND_VERSION STREQUAL PACKAGE_VERSION)
    set(PACKAGE_VERSION_EXACT TRUE)
  endif()
endif()
