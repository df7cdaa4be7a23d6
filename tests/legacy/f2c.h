/* What the routines here need of f2c's header, so that they are read where f2c is not installed. */
#ifndef F2C_INCLUDE
#define F2C_INCLUDE
#include <inttypes.h>

typedef int32_t integer;
typedef int16_t shortint;
typedef float real;
typedef double doublereal;
typedef struct { real r, i; } complex;
typedef struct { doublereal r, i; } doublecomplex;
typedef int32_t logical;
typedef int32_t ftnlen;
typedef char integer1;

#define TRUE_ (1)
#define FALSE_ (0)
#ifndef Extern
#define Extern extern
#endif

#define abs(x) ((x) >= 0 ? (x) : -(x))
#define dabs(x) (doublereal)abs(x)
#define min(a, b) ((a) <= (b) ? (a) : (b))
#define max(a, b) ((a) >= (b) ? (a) : (b))
#define dmin(a, b) (doublereal)min(a, b)
#define dmax(a, b) (doublereal)max(a, b)
#endif
