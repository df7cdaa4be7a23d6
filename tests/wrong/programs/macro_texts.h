#ifndef ODD_H
#define ODD_H
#ifndef GAIN
#define GAIN(x)   ( 1.5*( x )+ gain0 )
#endif
#ifndef REAL
#define REAL double
#endif
typedef REAL real_t;
#define SETTLED 4.5
#endif
