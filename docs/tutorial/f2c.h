/* What grad3.c needs of the header that comes with f2c. */
typedef int integer;
typedef double doublereal;
