// Sparse Cholesky and LU beside CHOLMOD and UMFPACK, one matrix after another, in processor time of the whole process.
// usage: sparse_direct_peers [poisson3d:N | poisson2d:N | FILE.mtx]...
// Peers run with the ordering they choose by themselves and with METIS; "factor" is their numerical factorisation.
#include <cholmod.h>
#include <umfpack.h>

#include <cstdio>
#include <ctime>
#include <string>
#include <vector>

#include <trn/sparse/direct.hpp>
#include <trn/sparse/gallery.hpp>
#include <trn/sparse/matrix_market.hpp>
#include <trn/sparse/structure.hpp>

using namespace trn;
using namespace trn::sparse;

namespace {

double processor_seconds() {
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}
template <class F> double timed(const F& f) {
  const double before = processor_seconds();
  f();
  return processor_seconds() - before;
}

template <class Factor, class Make> double ours(const char* what, const Csr<double>& a, const Make& make) {
  std::optional<Factor> f;
  const double whole = timed([&] { f.emplace(make()); });
  const double again = timed([&] { f.emplace(std::move(*f).refactor(a)); });
  const std::vector<double> b(static_cast<std::size_t>(a.rows()), 1);
  std::vector<double> x(b.size());
  Solved s;
  const MatrixView<const double> bv(a.executor(), b.data(), a.rows(), 1, 1, a.rows());
  const MatrixView<double> xv(a.executor(), x.data(), a.rows(), 1, 1, a.rows());
  const double solve = timed([&] { s = f->solve(bv, xv); });
  std::printf(
      "  %-22s analysis %7.2f  factor %7.2f  (whole %.2f, again %.2f of it)  solve %.2f  residual %.2g u"
      "  entries %.3g  %s\n",
      what, whole - again, again, whole, again / whole, solve, s.componentwise * 0x1p53,
      static_cast<double>(f->report().entries), std::string(name(f->report().ordering)).c_str());
  std::fflush(stdout);
  return again;
}

double cholmod(const Csr<double>& a, bool metis) {
  cholmod_common c;
  cholmod_l_start(&c);
  const std::int64_t* offsets = a.pattern().offsets().data();
  const auto n = static_cast<std::size_t>(a.rows());
  cholmod_sparse* m = cholmod_l_allocate_sparse(n, n, static_cast<std::size_t>(a.nnz()), 1, 1, 1, CHOLMOD_REAL, &c);
  std::int64_t count = 0;  // the rows' lower triangle is the columns' upper one
  for (std::int64_t i = 0; i < a.rows(); ++i) {
    static_cast<std::int64_t*>(m->p)[i] = count;
    for (std::int64_t k = offsets[i]; k < offsets[i + 1]; ++k) {
      if (a.pattern().indices().data()[k] > i) continue;
      static_cast<std::int64_t*>(m->i)[count] = a.pattern().indices().data()[k];
      static_cast<double*>(m->x)[count++] = a.values().data()[k];
    }
  }
  static_cast<std::int64_t*>(m->p)[a.rows()] = count;
  c.supernodal = CHOLMOD_SUPERNODAL;
  if (metis) c.nmethods = 1, c.method[0].ordering = CHOLMOD_METIS, c.postorder = 1;
  cholmod_factor* l = nullptr;
  const double analysis = timed([&] { l = cholmod_l_analyze(m, &c); });
  const double factor = timed([&] { cholmod_l_factorize(m, l, &c); });
  std::printf("  %-22s analysis %7.2f  factor %7.2f  entries %.3g\n", metis ? "CHOLMOD, METIS" : "CHOLMOD", analysis,
              factor, c.lnz);
  std::fflush(stdout);
  cholmod_l_free_factor(&l, &c), cholmod_l_free_sparse(&m, &c), cholmod_l_finish(&c);
  return factor;
}

double umfpack(const Csr<double>& a, bool metis) {
  const Csr<double> t = transpose(a);
  std::vector<std::int64_t> p(t.pattern().offsets().data(), t.pattern().offsets().data() + t.rows() + 1),
      i(t.pattern().indices().data(), t.pattern().indices().data() + t.nnz());
  double control[UMFPACK_CONTROL], info[UMFPACK_INFO];
  umfpack_dl_defaults(control);
  if (metis) control[UMFPACK_ORDERING] = UMFPACK_ORDERING_METIS;
  void *symbolic = nullptr, *numeric = nullptr;
  const double* x = t.values().data();
  const double analysis =
      timed([&] { umfpack_dl_symbolic(a.rows(), a.rows(), p.data(), i.data(), x, &symbolic, control, info); });
  const double factor = timed([&] { umfpack_dl_numeric(p.data(), i.data(), x, symbolic, &numeric, control, info); });
  std::printf("  %-22s analysis %7.2f  factor %7.2f  entries %.3g  status %g\n", metis ? "UMFPACK, METIS" : "UMFPACK",
              analysis, factor, info[UMFPACK_LNZ] + info[UMFPACK_UNZ], info[UMFPACK_STATUS]);
  std::fflush(stdout);
  umfpack_dl_free_numeric(&numeric), umfpack_dl_free_symbolic(&symbolic);
  return factor;
}

}  // namespace

int main(int count, char** arguments) {
  std::vector<std::string> names(arguments + 1, arguments + count);
  if (names.empty()) names = {"poisson3d:32", "poisson2d:300"};
  for (const std::string& name : names) {
    const auto size = std::atoll(name.c_str() + name.find(':') + 1);
    const Csr<double> a = name.starts_with("poisson3d:")   ? poisson<double>(size, size, size)
                          : name.starts_with("poisson2d:") ? poisson<double>(size, size)
                                                           : read_matrix_market<double>(name);
    const Structure s = structure(a);
    std::printf("%s: %lld rows, %lld entries\n", name.c_str(), static_cast<long long>(a.rows()),
                static_cast<long long>(a.nnz()));
    if (s.symmetric) {
      const double own = ours<Cholesky<double>>("trnsparse Cholesky", a, [&] { return Cholesky<double>(a); });
      const double peer = std::min(cholmod(a, false), cholmod(a, true));
      std::printf("  ours takes %.2f of CHOLMOD's time\n", own / peer);
    }
    const double own = ours<Lu<double>>("trnsparse LU", a, [&] { return Lu<double>(a); });
    const double peer = std::min(umfpack(a, false), umfpack(a, true));
    std::printf("  ours takes %.2f of UMFPACK's time\n", own / peer);
  }
}
