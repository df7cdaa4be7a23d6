# annotune in a Makefile; docs/build.md tells more:
#
#   include $(shell annotune build-dir)/annotune.mk
#   $(eval $(call annotune_add,FILE[,TARGET[,RESULTS]]))
#   program: main.o $(ANNOTUNE_OBJECTS)
#           $(CC) -o $@ $^ $(ANNOTUNE_LDLIBS)
#
# Nothing is tuned by the build: FILE is written by `annotune emit` when it, or RESULTS, has changed.
# TARGET is openmp (the default), openacc, openmp_target or cuda.

ANNOTUNE ?= annotune
# The folder of what is written.
ANNOTUNE_DIR ?= annotune-build
# For the C compiler; those that a text was measured with stand at its top. Its -I and -D also tell
# which headers the file has: it is written again when one of them has changed.
ANNOTUNE_CFLAGS ?= -O3 -march=native
# Such as -Iheaders -DSIZE=8.
ANNOTUNE_EMITFLAGS ?=
NVCC ?= nvcc
NVCCFLAGS ?= -O3

ANNOTUNE_OBJECTS :=
ANNOTUNE_LDLIBS := -lm

_annotune_openmp := _omp.c
_annotune_openacc := _acc.c
_annotune_openmp_target := _omp_target.c
_annotune_cuda := _cuda.c
_annotune_flag_openmp := -fopenmp
_annotune_flag_openmp_target := -fopenmp
_annotune_flag_openacc := -fopenacc
_annotune_flag_cuda :=
_annotune_lib_cuda := -lcudart -lstdc++
# The runtime that the files of a target share.
_annotune_object_cuda = $(ANNOTUNE_DIR)/annotune_runtime.o
_annotune_object_openacc = $(ANNOTUNE_DIR)/annotune_runtime_acc.o
_annotune_runtime := $(dir $(lastword $(MAKEFILE_LIST)))../runtime

# FILE, TARGET, RESULTS
annotune_add = $(call _annotune_rules,$(1),$(or $(2),openmp),$(3),$(basename $(notdir $(1))))

# FILE, TARGET, RESULTS, STEM; the default goal stays what it is without these rules.
define _annotune_rules
$(if $(_annotune_$(2)),,$(error annotune_add: '$(2)' is none of cuda openacc openmp openmp_target))
_annotune_goal := $$(.DEFAULT_GOAL)
$(ANNOTUNE_DIR)/$(4)$(_annotune_$(2)): $(1) $(3)
	$$(ANNOTUNE) emit $(1) -o $$(@D) --target $(2) $(if $(3),--from $(3)) $$(ANNOTUNE_EMITFLAGS)
	$$(CC) -MM -MG -MT $$@ -MF $$@.d $$(filter -I% -D%,$$(ANNOTUNE_CFLAGS)) $(1)
-include $(ANNOTUNE_DIR)/$(4)$(_annotune_$(2)).d
$(ANNOTUNE_DIR)/$(4)$(_annotune_$(2):.c=.o): $(ANNOTUNE_DIR)/$(4)$(_annotune_$(2))
	$$(CC) $$(ANNOTUNE_CFLAGS) $(_annotune_flag_$(2)) -I$(dir $(1)) -c $$< -o $$@
ANNOTUNE_OBJECTS += $(ANNOTUNE_DIR)/$(4)$(_annotune_$(2):.c=.o)
ANNOTUNE_LDLIBS += $(_annotune_flag_$(2)) $(_annotune_lib_$(2))
$(if $(filter cuda,$(2)),$(call _annotune_kernels,$(4)))
$(if $(filter $(_annotune_object_$(2)),$(ANNOTUNE_OBJECTS)),,$(_annotune_shared_$(2)))
.DEFAULT_GOAL := $$(_annotune_goal)
endef

# STEM: the kernels are written together with the C file that calls them.
define _annotune_kernels
$(ANNOTUNE_DIR)/$(1).cu: $(ANNOTUNE_DIR)/$(1)_cuda.c ;
$(ANNOTUNE_DIR)/$(1).o: $(ANNOTUNE_DIR)/$(1).cu
	$$(NVCC) $$(NVCCFLAGS) -c $$< -o $$@
ANNOTUNE_OBJECTS += $(ANNOTUNE_DIR)/$(1).o
endef

# Once in a project, for the first file of the target.
define _annotune_shared_cuda
$(_annotune_object_cuda): $(_annotune_runtime)/annotune_runtime.cu
	@mkdir -p $$(@D)
	$$(NVCC) $$(NVCCFLAGS) -c $$< -o $$@
ANNOTUNE_OBJECTS += $(_annotune_object_cuda)
endef
define _annotune_shared_openacc
$(_annotune_object_openacc): $(_annotune_runtime)/annotune_runtime_acc.c
	@mkdir -p $$(@D)
	$$(CC) $$(ANNOTUNE_CFLAGS) -fopenacc -c $$< -o $$@
ANNOTUNE_OBJECTS += $(_annotune_object_openacc)
endef
