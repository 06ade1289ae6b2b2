/* FFTW's interface as C declarations of our own, for tests where FFTW's header is not installed. X(name) is the name in
   one precision: fftw_name with double, fftwf_name with float (TRN_FFTW_SINGLE). */
#ifndef TRN_FFTW_NAMES_H
#define TRN_FFTW_NAMES_H

#include <stddef.h>
#include <stdio.h>

#ifdef TRN_FFTW_SINGLE
#define X(name) fftwf_##name
typedef float R;
#else
#define X(name) fftw_##name
typedef double R;
#endif
typedef R C[2];

#ifdef __cplusplus
extern "C" {
#endif

typedef struct X(plan_s) * X(plan);
#ifdef TRN_FFTW_SINGLE
#define FORTRAN(name) sfftw_##name##_
#else
#define FORTRAN(name) dfftw_##name##_
#endif
void FORTRAN(plan_dft_2d)(X(plan) * p, const int* nx, const int* ny, C* in, C* out, const int* sign, const int* flags);
void FORTRAN(execute)(X(plan) * p);
void FORTRAN(destroy_plan)(X(plan) * p);
typedef struct {
  int n, is, os;
} X(iodim);
typedef struct {
  ptrdiff_t n, is, os;
} X(iodim64);
enum { R2HC, HC2R, DHT, REDFT00, REDFT01, REDFT10, REDFT11, RODFT00, RODFT01, RODFT10, RODFT11 };
enum { FORWARD = -1, BACKWARD = 1 };
enum { MEASURE = 0, DESTROY_INPUT = 1, PRESERVE_INPUT = 16, PATIENT = 32, ESTIMATE = 64, WISDOM_ONLY = 1 << 21 };

X(plan) X(plan_dft)(int, const int*, C*, C*, int, unsigned);
X(plan) X(plan_dft_1d)(int, C*, C*, int, unsigned);
X(plan) X(plan_dft_2d)(int, int, C*, C*, int, unsigned);
X(plan) X(plan_dft_3d)(int, int, int, C*, C*, int, unsigned);
X(plan) X(plan_many_dft)(int, const int*, int, C*, const int*, int, int, C*, const int*, int, int, int, unsigned);
X(plan) X(plan_dft_r2c)(int, const int*, R*, C*, unsigned);
X(plan) X(plan_dft_r2c_1d)(int, R*, C*, unsigned);
X(plan) X(plan_dft_r2c_2d)(int, int, R*, C*, unsigned);
X(plan) X(plan_dft_r2c_3d)(int, int, int, R*, C*, unsigned);
X(plan) X(plan_many_dft_r2c)(int, const int*, int, R*, const int*, int, int, C*, const int*, int, int, unsigned);
X(plan) X(plan_dft_c2r)(int, const int*, C*, R*, unsigned);
X(plan) X(plan_dft_c2r_1d)(int, C*, R*, unsigned);
X(plan) X(plan_dft_c2r_2d)(int, int, C*, R*, unsigned);
X(plan) X(plan_dft_c2r_3d)(int, int, int, C*, R*, unsigned);
X(plan) X(plan_many_dft_c2r)(int, const int*, int, C*, const int*, int, int, R*, const int*, int, int, unsigned);
X(plan) X(plan_r2r)(int, const int*, R*, R*, const int*, unsigned);
X(plan) X(plan_r2r_1d)(int, R*, R*, int, unsigned);
X(plan) X(plan_r2r_2d)(int, int, R*, R*, int, int, unsigned);
X(plan) X(plan_r2r_3d)(int, int, int, R*, R*, int, int, int, unsigned);
X(plan)
X(plan_many_r2r)(int, const int*, int, R*, const int*, int, int, R*, const int*, int, int, const int*, unsigned);
#define TRN_GURU(guru, Dim)                                                                       \
  X(plan) X(plan_##guru##_dft)(int, const Dim*, int, const Dim*, C*, C*, int, unsigned);          \
  X(plan) X(plan_##guru##_split_dft)(int, const Dim*, int, const Dim*, R*, R*, R*, R*, unsigned); \
  X(plan) X(plan_##guru##_dft_r2c)(int, const Dim*, int, const Dim*, R*, C*, unsigned);           \
  X(plan) X(plan_##guru##_dft_c2r)(int, const Dim*, int, const Dim*, C*, R*, unsigned);           \
  X(plan) X(plan_##guru##_split_dft_r2c)(int, const Dim*, int, const Dim*, R*, R*, R*, unsigned); \
  X(plan) X(plan_##guru##_split_dft_c2r)(int, const Dim*, int, const Dim*, R*, R*, R*, unsigned); \
  X(plan) X(plan_##guru##_r2r)(int, const Dim*, int, const Dim*, R*, R*, const int*, unsigned);
TRN_GURU(guru, X(iodim))
TRN_GURU(guru64, X(iodim64))
void X(execute)(X(plan));
void X(execute_dft)(X(plan), C*, C*);
void X(execute_split_dft)(X(plan), R*, R*, R*, R*);
void X(execute_dft_r2c)(X(plan), R*, C*);
void X(execute_dft_c2r)(X(plan), C*, R*);
void X(execute_split_dft_r2c)(X(plan), R*, R*, R*);
void X(execute_split_dft_c2r)(X(plan), R*, R*, R*);
void X(execute_r2r)(X(plan), R*, R*);
void X(destroy_plan)(X(plan));
void X(forget_wisdom)(void);
void X(cleanup)(void);
void X(set_timelimit)(double);
void X(plan_with_nthreads)(int);
int X(planner_nthreads)(void);
int X(init_threads)(void);
void X(cleanup_threads)(void);
void X(threads_set_callback)(void (*)(void* (*)(char*), char*, size_t, int, void*), void*);
void X(make_planner_thread_safe)(void);
int X(export_wisdom_to_filename)(const char*);
void X(export_wisdom_to_file)(FILE*);
char* X(export_wisdom_to_string)(void);
void X(export_wisdom)(void (*)(char, void*), void*);
int X(import_system_wisdom)(void);
int X(import_wisdom_from_filename)(const char*);
int X(import_wisdom_from_file)(FILE*);
int X(import_wisdom_from_string)(const char*);
int X(import_wisdom)(int (*)(void*), void*);
void X(fprint_plan)(X(plan), FILE*);
void X(print_plan)(X(plan));
char* X(sprint_plan)(X(plan));
void* X(malloc)(size_t);
R* X(alloc_real)(size_t);
C* X(alloc_complex)(size_t);
void X(free)(void*);
void X(flops)(X(plan), double*, double*, double*);
double X(estimate_cost)(X(plan));
double X(cost)(X(plan));
int X(alignment_of)(R*);
extern const char X(version)[], X(cc)[], X(codelet_optim)[];

#ifdef __cplusplus
}
#endif

#endif
