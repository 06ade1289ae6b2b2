// The calls that the drop-in LAPACK serves: counted by executor and kind, printed at exit when TRN_REPORT is 1.
#pragma once

#include "../environment.hpp"

namespace trn::dropin {

enum class Kind : int { Cholesky, Lu, Qr, Indefinite, Triangular, Band, Eigenvalues, SingularValues, LeastSquares };
inline constexpr const char* kKinds[] = {
    "cholesky", "lu", "qr", "indefinite", "triangular", "band", "eigenvalues", "singular values", "least squares"};

void count(Kind kind, bool on_host);

}  // namespace trn::dropin
