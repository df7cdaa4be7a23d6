/* What `annotune.measure.acc_memory` writes around OpenACC's constructs: calls of acc_memory.c.

   Included before everything else of a text, so it includes nothing. A variable of a clause has a
   number in the text, by which its section is known: where it begins, counted from the variable,
   its bytes, and what the variable would be on the device. */
#ifndef ANNOTUNE_ACC_MEMORY_H
#define ANNOTUNE_ACC_MEMORY_H

void annotune_acc_begin(int at_line);
void annotune_acc_end(void);
void *annotune_acc_map(const char *action, const char *name, const void *base, long long from,
                       long long size);
void annotune_acc_load(void *variable, const void *device, long long size, int is_array);
void annotune_acc_store(void *device, const void *variable, long long size, int is_array);
void annotune_acc_whole(const char *name, long long from, long long size, long long row);
void annotune_acc_update(int at_line, int to_device, int is_optional, const char *name,
                         const void *from, long long size);
void annotune_acc_enter_data(int at_line, const char *action, const char *name, const void *from,
                             long long size);
void annotune_acc_exit_data(int at_line, const char *action, int is_final, const char *name,
                            const void *from, long long size);

/* Addresses are taken of variables that the user may have declared so. */
#define register

#define ANNOTUNE_ACC_BYTES(a, count) ((long long)(count) * (long long)sizeof((a)[0]))

/* A construct begins: bring a[first:count], or a whole object, to the device. */
#define ANNOTUNE_ACC_SECTION(n, action, a, first, count)                                    \
    typedef __typeof__(&(a)[0]) annotune_type##n;                                           \
    const long long annotune_from##n = (const char *)&(a)[first] - (const char *)(a),       \
                    annotune_size##n = ANNOTUNE_ACC_BYTES(a, count);                        \
    ANNOTUNE_ACC_MAP(n, n, action, a, a)
#define ANNOTUNE_ACC_OBJECT(n, action, a, words)                                            \
    typedef __typeof__(__extension__({ __auto_type annotune_value = (a); annotune_value; })) \
        annotune_type##n;                                                                   \
    const int annotune_array##n = !ANNOTUNE_ACC_IS_A(a, annotune_type##n);                  \
    enum { annotune_points##n = ANNOTUNE_ACC_POINTS(a) && ANNOTUNE_ACC_IS_A(a, annotune_type##n) }; \
    __extension__ _Static_assert(!annotune_points##n, words);                               \
    const long long annotune_from##n = 0, annotune_size##n = sizeof(a);                     \
    ANNOTUNE_ACC_MAP(n, n, action, a, &(a))
#define ANNOTUNE_ACC_MAP(again, n, action, a, base)                                         \
    void *const annotune_device##again = annotune_acc_map(                                  \
        action, #a, (const void *)(base), annotune_from##n, annotune_size##n);

/* The same for a kernel in a data construct, whose clause had the number n. */
#define ANNOTUNE_ACC_FIND_SECTION(again, n, a) ANNOTUNE_ACC_MAP(again, n, "present", a, a)
#define ANNOTUNE_ACC_FIND_OBJECT(again, n, a) ANNOTUNE_ACC_MAP(again, n, "present", a, &(a))

/* In a block of its own: a variable of the same name that leads to the device. */
#define ANNOTUNE_ACC_USE_SECTION(again, n, a)                                               \
    annotune_type##n a = (annotune_type##n)annotune_device##again;
#define ANNOTUNE_ACC_USE_OBJECT(again, n, a)                                                \
    annotune_type##n a;                                                                     \
    annotune_acc_load((void *)&a, annotune_device##again, sizeof(a), annotune_array##n);
#define ANNOTUNE_ACC_PUT_BACK(again, n, a)                                                  \
    annotune_acc_store(annotune_device##again, (const void *)&a, sizeof(a), annotune_array##n);

/* A scalar that a kernel assigns and no clause names keeps its value outside. */
#define ANNOTUNE_ACC_VALUE(n, a) __auto_type annotune_value##n = a;
#define ANNOTUNE_ACC_USE_VALUE(n, a) __typeof__(annotune_value##n) a = annotune_value##n;

/* Of an array of rows whole rows are taken, or they do not lie one behind the other. */
#define ANNOTUNE_ACC_ROWS(a, row, first, count)                                             \
    annotune_acc_whole(#a, ANNOTUNE_ACC_BYTES(row, first), ANNOTUNE_ACC_BYTES(row, count),  \
                       (long long)sizeof(row));

/* Pointers and arrays; `a` may be a type or a constant as well. */
#define ANNOTUNE_ACC_POINTS(a) (__builtin_classify_type(*(__typeof__(a) *)0) == 5)
#define ANNOTUNE_ACC_IS_A(a, type) __builtin_types_compatible_p(__typeof__(a), type)
#define ANNOTUNE_ACC_NO_POINTER(a, words)                                                   \
    __extension__ _Static_assert(!ANNOTUNE_ACC_POINTS(a), words);

/* Directives that stand alone; `what` is the address and the bytes. */
#define ANNOTUNE_ACC_AT(a, first, count) (const void *)&(a)[first], ANNOTUNE_ACC_BYTES(a, count)
#define ANNOTUNE_ACC_WHOLE_OF(a) (const void *)&(a), (long long)sizeof(a)

#endif
