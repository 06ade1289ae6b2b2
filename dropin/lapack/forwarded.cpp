// The entry points that run on the host alone, in LAPACK's own routine.
#include "forward.hpp"

TRN_FORWARD_ALL(potrs_, Cholesky, 8, 1)
TRN_FORWARD_ALL(potri_, Cholesky, 5, 1)
TRN_FORWARD_ALL(posv_, Cholesky, 8, 1)
TRN_FORWARD_ALL(pocon_, Cholesky, 9, 1)

TRN_FORWARD_ALL(getrs_, Lu, 9, 1)
TRN_FORWARD_ALL(getri_, Lu, 7, 0)
TRN_FORWARD_ALL(gesv_, Lu, 8, 0)
TRN_FORWARD_ALL(gecon_, Lu, 9, 1)

TRN_FORWARD_REAL(orgqr_, Qr, 9, 0)
TRN_FORWARD_COMPLEX(ungqr_, Qr, 9, 0)
TRN_FORWARD_REAL(ormqr_, Qr, 13, 2)
TRN_FORWARD_COMPLEX(unmqr_, Qr, 13, 2)
TRN_FORWARD_ALL(gels_, LeastSquares, 11, 1)
TRN_FORWARD_REAL(gelsd_, LeastSquares, 14, 0)
TRN_FORWARD_COMPLEX(gelsd_, LeastSquares, 15, 0)

TRN_FORWARD_ALL(sytrf_, Indefinite, 8, 1)
TRN_FORWARD_ALL(sytrs_, Indefinite, 9, 1)
TRN_FORWARD_ALL(sytri_, Indefinite, 7, 1)
TRN_FORWARD_ALL(sysv_, Indefinite, 11, 1)
TRN_FORWARD_COMPLEX(hetrf_, Indefinite, 8, 1)
TRN_FORWARD_COMPLEX(hetrs_, Indefinite, 9, 1)
TRN_FORWARD_COMPLEX(hetri_, Indefinite, 7, 1)
TRN_FORWARD_COMPLEX(hesv_, Indefinite, 11, 1)

TRN_FORWARD_ALL(trtri_, Triangular, 6, 2)
TRN_FORWARD_ALL(trtrs_, Triangular, 10, 3)
TRN_FORWARD_ALL(trcon_, Triangular, 10, 3)

TRN_FORWARD_ALL(gbsv_, Band, 10, 0)
TRN_FORWARD_ALL(gtsv_, Band, 8, 0)
TRN_FORWARD_ALL(pbsv_, Band, 9, 1)
TRN_FORWARD_ALL(ptsv_, Band, 7, 0)

TRN_FORWARD_REAL(syevr_, Eigenvalues, 21, 3)
TRN_FORWARD_COMPLEX(heevr_, Eigenvalues, 23, 3)
TRN_FORWARD_REAL(sygvd_, Eigenvalues, 14, 2)
TRN_FORWARD_COMPLEX(hegvd_, Eigenvalues, 16, 2)
TRN_FORWARD_ALL(geev_, Eigenvalues, 14, 2)
TRN_FORWARD_ALL(gees_, Eigenvalues, 15, 2)

TRN_FORWARD_REAL(gesdd_, SingularValues, 14, 1)
TRN_FORWARD_COMPLEX(gesdd_, SingularValues, 15, 1)
