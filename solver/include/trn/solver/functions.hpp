// Functions of square matrices, and the polar decomposition. SciPy: polar, signm, sqrtm, expm, logm, cosm, sinm,
// expm_multiply. Python trnsolver: inv_sqrt_spd, inv_sqrt_spd_ns.
//
// A is not changed; results must not overlap it. NaN and infinity in A: NotFinite at the place, results are NaN. n = 0
// is Ok. After any outcome but Ok and NotConverged the results are NaN; TargetMissed below has an exception.
// Executors: host, s d c z. `inv_sqrt_spd_ns`, `expm` and `expm_multiply` are made of products alone and also run on
// devices, s c; scalars, norms and sums of matrices are formed from copies on the host there, O(n^2). `polar` and
// `inv_sqrt_spd` (s, and d in Exact) run there too, by the device's svd and eigh; vectors are scaled on the host.
// Bound: an estimate, relative to the norm of the result, of the algorithm's own error; the condition of the function
// at A, by which any error in A is magnified, is not in it. 0 where there is no statement.
#pragma once

#include <trn/solver/operators.hpp>

namespace trn::solver {

// A = U H with U^H U = I and H Hermitian positive semidefinite; A is m x n, m >= n, U m x n, H n x n. By the singular
// value decomposition: U = W V^H, H = V S V^H.
template <Scalar T>
Report polar(const Executor& executor, const ConstMatrix<T>& a, const MatrixView<T>& u, const MatrixView<T>& h);

// sign(A): eigenvalues become the signs of their real parts. Newton's X <- (g X + (g X)^-1) / 2, scaled by the
// determinant while it is far away. Singular: A, or an iterate, has no inverse (eigenvalues on the imaginary axis).
template <Scalar T> Report signm(const Executor& executor, const ConstMatrix<T>& a, const MatrixView<T>& s);

// A^(-1/2) of a Hermitian positive definite matrix, from its eigenvalues; only the lower triangle is read.
// NotPositiveDefinite at the number of eigenvalues that are not above n eps ||A||, minus one: nothing is clamped.
template <Scalar T> Report inv_sqrt_spd(const Executor& executor, const ConstMatrix<T>& a, const MatrixView<T>& x);

// The same by the coupled Newton-Schulz iteration, products alone: Y_0 = A / c, Z_0 = I, W = (3 I - Z Y) / 2,
// Y <- Y W, Z <- W Z; Z -> (A / c)^(-1/2). NotConverged when ||I - Z Y||_F / sqrt(n) stays above it: A is not
// definite, or too ill-conditioned (about 1 / eps^(1/2) at most). Reads all of A.
struct NewtonSchulzOptions {
  int max_iterations = 60;
  double tolerance = 0;  // of ||I - Z Y||_F / sqrt(n); 0: n eps
};
struct NewtonSchulzReport : Report {
  double residual = 0;  // the last ||I - Z Y||_F / sqrt(n)
};
template <Scalar T> NewtonSchulzReport inv_sqrt_spd_ns(const Executor& executor, const ConstMatrix<T>& a,
                                                       const MatrixView<T>& x, const NewtonSchulzOptions& options = {});

// The principal square root by the Schur form (Bjoerck and Hammarling 1983). NotDefined at an eigenvalue that is zero,
// or for real types negative: no real root of this kind exists; take the complex type.
template <Scalar T> Report sqrtm(const Executor& executor, const ConstMatrix<T>& a, const MatrixView<T>& x);

// The principal logarithm by inverse scaling and squaring of the Schur form, and Gauss-Legendre quadrature of
// log(I + X) = integral over [0, 1] of X (I + t X)^-1 (which is its Pade approximant). NotDefined as for sqrtm.
template <Scalar T> Report logm(const Executor& executor, const ConstMatrix<T>& a, const MatrixView<T>& x);

// e^A by scaling and squaring with a Taylor polynomial, evaluated in few products (Paterson and Stockmeyer 1973). The
// bound counts the rounding of every squaring, and underflow. Each squaring doubles a relative error at least.
// TargetMissed where no digit is left: the bound, which grows with u ||A||, reaches 1, or e^A underflows. After an
// underflow (the absolute error is below the smallest normal number) X keeps what is left of it, often 0; otherwise it
// is NaN. NotFinite: e^A overflows.
template <Scalar T> Report expm(const Executor& executor, const ConstMatrix<T>& a, const MatrixView<T>& x);

// cos A and sin A from e^(i A) and e^(-i A); TargetMissed as for expm. Near a zero of the function the bound may exceed
// 1 after Ok: the error is small beside e^(i A), and the result is smaller. Where ||A||_F^2 <= 6 u the sine is A.
template <Scalar T> Report cosm(const Executor& executor, const ConstMatrix<T>& a, const MatrixView<T>& x);
template <Scalar T> Report sinm(const Executor& executor, const ConstMatrix<T>& a, const MatrixView<T>& x);

// F = e^(t A) B for any operator, from products with blocks (Al-Mohy and Higham 2011): s steps of a Taylor polynomial
// that ends when two terms in a row are small. norm is a bound of some operator norm of A (1-norm, 2-norm); 0: the
// 1-norm is computed by applying A to the columns of the identity. s is |t| norm, rounded up; above 1e7 the call is
// refused (InvalidArgument).
struct ExpmMultiplyOptions {
  double t = 1, norm = 0;
};
template <Scalar T> Report expm_multiply(const AnyOperator<T>& a, const ConstMatrix<T>& b, const MatrixView<T>& f,
                                         const ExpmMultiplyOptions& options = {});

}  // namespace trn::solver
