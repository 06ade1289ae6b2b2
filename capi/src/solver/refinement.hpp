// cuSOLVER's refinement with parameters (IRS), over the one way that there is: factors in the main precision, which
// leave nothing to refine. Parameters are checked and kept; the precision of the factors, tolerances, limits and the
// choice of a solver are permissions that are not used. 0 iterations are made.
#pragma once

#include "variants.hpp"

struct trnsolverDnIRSParams {
  trnsolverIRSRefinement_t refinement = TRNSOLVER_IRS_REFINE_NOT_SET;
  int main = 0, lowest = 0;  // of trnsolverPrecType_t; 0: not set
  int most_iterations = 50;
};
struct trnsolverDnIRSInfos {
  int iterations = -1, most_iterations = -1;  // of the last call, or none yet
};

namespace trn::capi::solver {

using IrsParams = trnsolverDnIRSParams;
using IrsInfos = trnsolverDnIRSInfos;

inline void check(trnsolverPrecType_t type) {
  require(type >= TRNSOLVER_R_8I && type <= TRNSOLVER_C_AP && type != 1209 && type != 1210, "precision type {}",
          static_cast<int>(type));
}
inline void set_refinement(IrsParams* params, trnsolverIRSRefinement_t refinement) {
  require(refinement >= TRNSOLVER_IRS_REFINE_NONE && refinement <= TRNSOLVER_IRS_REFINE_GMRES_NOPCOND,
          "refinement {}; there are 1101 to 1106", static_cast<int>(refinement));
  look(params)->refinement = refinement;
}
inline void set_main_precision(IrsParams* params, trnsolverPrecType_t type) { check(type), look(params)->main = type; }
inline void set_lowest_precision(IrsParams* params, trnsolverPrecType_t type) {
  check(type), look(params)->lowest = type;
}
inline void set_precisions(IrsParams* params, trnsolverPrecType_t main, trnsolverPrecType_t lowest) {
  set_main_precision(params, main), set_lowest_precision(params, lowest);
}
inline void set_irs_tolerance(IrsParams* params, double tolerance) {
  (void)look(params);
  require(tolerance >= 0, "the tolerance is {}; it must be >= 0", tolerance);
}
inline void set_irs_iterations(IrsParams* params, int most) {
  require(most >= 0, "the limit is {} iterations", most);
  look(params)->most_iterations = most;
}
inline void set_inner_iterations(IrsParams* params, int most) {
  (void)look(params);
  require(most >= 0, "the limit is {} iterations", most);
}
inline void get_irs_iterations(IrsParams* params, int* most) {
  answer("maxiters", most, look(params)->most_iterations);
}
inline void set_fallback(IrsParams* params) { (void)look(params); }  // nothing fails that could fall back
inline void get_iterations(IrsInfos* infos, int* count) { answer("niters", count, look(infos)->iterations); }
inline void get_most_iterations(IrsInfos* infos, int* most) { answer("maxiters", most, look(infos)->most_iterations); }
inline void request_residual(IrsInfos* infos) { (void)look(infos); }
inline void get_residual_history(IrsInfos* infos, void** history) {
  (void)look(infos);
  answer("residual_history", history, nullptr);
  fail<NotImplemented>("a history of residuals: no step of refinement is made");
}

inline void irs_size(Call&, IrsParams* params, int n, int nrhs, std::size_t* bytes) {
  (void)look(params);
  check_size(n), check_size(nrhs);
  answer("lwork_bytes", bytes, 16);
}
inline void irs_gesv(Call& c, IrsParams* params, IrsInfos* infos, int n, int nrhs, void* a, int lda, void* b, int ldb,
                     void* x, int ldx, int* iterations, int* info) {
  const auto p = look(params);
  const auto told = look(infos);
  require(p->main != 0 && p->lowest != 0, "the precisions are not set: call IRSParamsSetSolverPrecisions");
  require(p->refinement != TRNSOLVER_IRS_REFINE_NOT_SET,
          "the refinement is not set: call IRSParamsSetRefinementSolver");
  const auto solve = [&]<class T>(T*) {
    gesv<T>(c, n, nrhs, as<T>(a), lda, nullptr, as<T>(b), ldb, as<T>(x), ldx, iterations, info);
  };
  switch (p->main) {
    case TRNSOLVER_R_32F:
      solve(static_cast<float*>(nullptr));
      break;
    case TRNSOLVER_R_64F:
      solve(static_cast<double*>(nullptr));
      break;
    case TRNSOLVER_C_32F:
      solve(static_cast<std::complex<float>*>(nullptr));
      break;
    case TRNSOLVER_C_64F:
      solve(static_cast<std::complex<double>*>(nullptr));
      break;
    default:
      fail<NotImplemented>("main precision {}; there are float, double and their complex types", p->main);
  }
  told->iterations = *iterations, told->most_iterations = p->most_iterations;
}

}  // namespace trn::capi::solver
