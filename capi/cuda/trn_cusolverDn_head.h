/* What cusolverDn.h has beside its functions. */
typedef int cusolver_int_t;
