// The planners of FFTW's interface and what executes their plans. Each planner writes its arguments down as a Problem;
// a plan is that problem made ready, with the addresses it was planned for. What cannot be planned gives a null plan.
// Compiled once for each precision.
#include <algorithm>
#include <climits>
#include <cstdlib>
#include <memory>
#include <string>

#include "calls.hpp"
#include "fftw.hpp"
#include "transform.hpp"

namespace trn::dropin {

struct Plan {
  Transform<R> transform;
  Sides<R> sides;
  // Not null where an execution is nothing but this plan of trnfft and no report counts it: a transform of 64 points
  // takes 20 ns, and each nanosecond on the way to it is 5 % of that.
  const fft::Plan<R>* plain = nullptr;
};

namespace {

R* real(C* address) { return reinterpret_cast<R*>(address); }

Plan* make(Problem problem, const Sides<R>& sides, unsigned flags) noexcept {
  try {
    if (!problem.valid()) return nullptr;
    problem.in_place = sides.re_in == sides.re_out;
    // Split sides are in place both or not at all.
    if (problem.split && problem.form == Form::C2C && problem.in_place != (sides.im_in == sides.im_out)) return nullptr;
    return with_planner([&](Planner& planner) -> Plan* {
      const std::string text = problem.text();
      if ((flags & kWisdomOnly) && !planner.wisdom.count(text)) return nullptr;
      std::unique_ptr<Plan> made(new Plan{Transform<R>(problem, planner.threads), sides});
      if (!environment().report) made->plain = made->transform.plain();
      planner.wisdom.insert(text);
      return made.release();
    });
  } catch (const std::exception&) {
    return nullptr;
  }
}

// FFTW has no way to return an error from an execution: the program ends.
void run(const Plan* p, const Sides<R>& sides) noexcept {
  try {
    count(p->transform.problem().form, p->transform.on_host());
    p->transform.run(sides);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "trnfft: %s\n", e.what());
    std::abort();
  }
}
R* real(R* address) { return address; }
// No handler here, which would cost a stack frame: an exception that leaves a C function for a C program ends it, too.
template <class In, class Out> void run(const Plan* p, In* in, Out* out) {
  if (p->plain) return p->plain->execute(in, out);
  run(p, {real(in), nullptr, real(out), nullptr});
}

template <class Dim> std::vector<Axis> axes_of(int rank, const Dim* dims) {
  std::vector<Axis> found;
  for (int i = 0; i < rank; ++i) found.push_back({dims[i].n, dims[i].is, dims[i].os});
  return found;
}
std::vector<RealKind> kinds_of(int rank, const int* kinds) {
  std::vector<RealKind> found;
  for (int i = 0; i < rank; ++i) found.push_back(static_cast<RealKind>(kinds[i]));
  return found;
}

template <class Dim> Plan* guru(Form form, bool split, bool forward, int rank, const Dim* dims, int batch_rank,
                                const Dim* batch, const int* kinds, const Sides<R>& sides, unsigned flags) noexcept {
  if (rank < 0 || batch_rank < 0) return nullptr;
  if (rank == INT_MAX || batch_rank == INT_MAX) {  // FFTW's rank of minus infinity: a problem without elements
    Problem nothing{form, {}, {{0, 0, 0}}, forward, split};
    return make(std::move(nothing), sides, flags);
  }
  Problem p{form, axes_of(rank, dims), axes_of(batch_rank, batch), forward, split};
  if (kinds) p.kinds = kinds_of(rank, kinds);
  return make(std::move(p), sides, flags);
}

struct Layout {
  const int* embed;
  int stride, distance;
};
// The advanced interface: row i of a side has embed[i] elements. Without embed a side is dense, and the real side of a
// transform in place has rows of 2 (n/2 + 1).
Plan* many(Form form, bool forward, int rank, const int* n, int count, const Layout& in, const Layout& out,
           const int* kinds, const Sides<R>& sides, unsigned flags) noexcept {
  if (rank < 0 || count < 0) return nullptr;
  Problem p{form, {}, {}, forward};
  p.axes.resize(static_cast<std::size_t>(rank));
  const bool in_place = sides.re_in == sides.re_out;
  const bool halved = form == Form::R2C || form == Form::C2R;
  const auto extent = [&](const Layout& side, int i, bool is_real) -> std::int64_t {
    if (side.embed) return side.embed[i];
    if (!halved || i + 1 < rank) return n[i];
    return is_real ? (in_place ? 2 * (n[i] / 2 + 1) : n[i]) : n[i] / 2 + 1;
  };
  std::int64_t is = in.stride, os = out.stride;
  for (int i = rank; i-- > 0;) {
    p.axes[static_cast<std::size_t>(i)] = {n[i], is, os};
    is *= extent(in, i, form == Form::R2C), os *= extent(out, i, form == Form::C2R);
  }
  if (count != 1) p.batch.push_back({count, in.distance, out.distance});
  if (kinds) p.kinds = kinds_of(rank, kinds);
  return make(std::move(p), sides, flags);
}
Plan* basic(Form form, bool forward, int rank, const int* n, const int* kinds, const Sides<R>& sides, unsigned flags) {
  return many(form, forward, rank, n, 1, {nullptr, 1, 0}, {nullptr, 1, 0}, kinds, sides, flags);
}

constexpr bool is_forward(int sign) { return sign < 0; }

}  // namespace

extern "C" {

Plan* TRN_FFTW(plan_dft)(int rank, const int* n, C* in, C* out, int sign, unsigned flags) {
  return basic(Form::C2C, is_forward(sign), rank, n, nullptr, {real(in), nullptr, real(out), nullptr}, flags);
}
Plan* TRN_FFTW(plan_dft_1d)(int n, C* in, C* out, int sign, unsigned flags) {
  return TRN_FFTW(plan_dft)(1, &n, in, out, sign, flags);
}
Plan* TRN_FFTW(plan_dft_2d)(int n0, int n1, C* in, C* out, int sign, unsigned flags) {
  const int n[] = {n0, n1};
  return TRN_FFTW(plan_dft)(2, n, in, out, sign, flags);
}
Plan* TRN_FFTW(plan_dft_3d)(int n0, int n1, int n2, C* in, C* out, int sign, unsigned flags) {
  const int n[] = {n0, n1, n2};
  return TRN_FFTW(plan_dft)(3, n, in, out, sign, flags);
}
Plan* TRN_FFTW(plan_many_dft)(int rank, const int* n, int howmany, C* in, const int* inembed, int istride, int idist,
                              C* out, const int* onembed, int ostride, int odist, int sign, unsigned flags) {
  return many(Form::C2C, is_forward(sign), rank, n, howmany, {inembed, istride, idist}, {onembed, ostride, odist},
              nullptr, {real(in), nullptr, real(out), nullptr}, flags);
}

Plan* TRN_FFTW(plan_dft_r2c)(int rank, const int* n, R* in, C* out, unsigned flags) {
  return basic(Form::R2C, true, rank, n, nullptr, {in, nullptr, real(out), nullptr}, flags);
}
Plan* TRN_FFTW(plan_dft_r2c_1d)(int n, R* in, C* out, unsigned flags) {
  return TRN_FFTW(plan_dft_r2c)(1, &n, in, out, flags);
}
Plan* TRN_FFTW(plan_dft_r2c_2d)(int n0, int n1, R* in, C* out, unsigned flags) {
  const int n[] = {n0, n1};
  return TRN_FFTW(plan_dft_r2c)(2, n, in, out, flags);
}
Plan* TRN_FFTW(plan_dft_r2c_3d)(int n0, int n1, int n2, R* in, C* out, unsigned flags) {
  const int n[] = {n0, n1, n2};
  return TRN_FFTW(plan_dft_r2c)(3, n, in, out, flags);
}
Plan* TRN_FFTW(plan_many_dft_r2c)(int rank, const int* n, int howmany, R* in, const int* inembed, int istride,
                                  int idist, C* out, const int* onembed, int ostride, int odist, unsigned flags) {
  return many(Form::R2C, true, rank, n, howmany, {inembed, istride, idist}, {onembed, ostride, odist}, nullptr,
              {in, nullptr, real(out), nullptr}, flags);
}

Plan* TRN_FFTW(plan_dft_c2r)(int rank, const int* n, C* in, R* out, unsigned flags) {
  return basic(Form::C2R, false, rank, n, nullptr, {real(in), nullptr, out, nullptr}, flags);
}
Plan* TRN_FFTW(plan_dft_c2r_1d)(int n, C* in, R* out, unsigned flags) {
  return TRN_FFTW(plan_dft_c2r)(1, &n, in, out, flags);
}
Plan* TRN_FFTW(plan_dft_c2r_2d)(int n0, int n1, C* in, R* out, unsigned flags) {
  const int n[] = {n0, n1};
  return TRN_FFTW(plan_dft_c2r)(2, n, in, out, flags);
}
Plan* TRN_FFTW(plan_dft_c2r_3d)(int n0, int n1, int n2, C* in, R* out, unsigned flags) {
  const int n[] = {n0, n1, n2};
  return TRN_FFTW(plan_dft_c2r)(3, n, in, out, flags);
}
Plan* TRN_FFTW(plan_many_dft_c2r)(int rank, const int* n, int howmany, C* in, const int* inembed, int istride,
                                  int idist, R* out, const int* onembed, int ostride, int odist, unsigned flags) {
  return many(Form::C2R, false, rank, n, howmany, {inembed, istride, idist}, {onembed, ostride, odist}, nullptr,
              {real(in), nullptr, out, nullptr}, flags);
}

Plan* TRN_FFTW(plan_r2r)(int rank, const int* n, R* in, R* out, const int* kind, unsigned flags) {
  return basic(Form::R2R, true, rank, n, kind, {in, nullptr, out, nullptr}, flags);
}
Plan* TRN_FFTW(plan_r2r_1d)(int n, R* in, R* out, int kind, unsigned flags) {
  return TRN_FFTW(plan_r2r)(1, &n, in, out, &kind, flags);
}
Plan* TRN_FFTW(plan_r2r_2d)(int n0, int n1, R* in, R* out, int kind0, int kind1, unsigned flags) {
  const int n[] = {n0, n1}, kind[] = {kind0, kind1};
  return TRN_FFTW(plan_r2r)(2, n, in, out, kind, flags);
}
Plan* TRN_FFTW(plan_r2r_3d)(int n0, int n1, int n2, R* in, R* out, int kind0, int kind1, int kind2, unsigned flags) {
  const int n[] = {n0, n1, n2}, kind[] = {kind0, kind1, kind2};
  return TRN_FFTW(plan_r2r)(3, n, in, out, kind, flags);
}
Plan* TRN_FFTW(plan_many_r2r)(int rank, const int* n, int howmany, R* in, const int* inembed, int istride, int idist,
                              R* out, const int* onembed, int ostride, int odist, const int* kind, unsigned flags) {
  return many(Form::R2R, true, rank, n, howmany, {inembed, istride, idist}, {onembed, ostride, odist}, kind,
              {in, nullptr, out, nullptr}, flags);
}

// The guru interface, with int and with 64-bit dimensions.
#define TRN_FFTW_GURU(guru_name, Dim)                                                                                  \
  Plan* TRN_FFTW(plan_##guru_name##_dft)(int rank, const Dim* dims, int howmany_rank, const Dim* howmany, C* in,       \
                                         C* out, int sign, unsigned flags) {                                           \
    return guru(Form::C2C, false, is_forward(sign), rank, dims, howmany_rank, howmany, nullptr,                        \
                {real(in), nullptr, real(out), nullptr}, flags);                                                       \
  }                                                                                                                    \
  Plan* TRN_FFTW(plan_##guru_name##_split_dft)(int rank, const Dim* dims, int howmany_rank, const Dim* howmany, R* ri, \
                                               R* ii, R* ro, R* io, unsigned flags) {                                  \
    return guru(Form::C2C, true, true, rank, dims, howmany_rank, howmany, nullptr, {ri, ii, ro, io}, flags);           \
  }                                                                                                                    \
  Plan* TRN_FFTW(plan_##guru_name##_dft_r2c)(int rank, const Dim* dims, int howmany_rank, const Dim* howmany, R* in,   \
                                             C* out, unsigned flags) {                                                 \
    return guru(Form::R2C, false, true, rank, dims, howmany_rank, howmany, nullptr, {in, nullptr, real(out), nullptr}, \
                flags);                                                                                                \
  }                                                                                                                    \
  Plan* TRN_FFTW(plan_##guru_name##_dft_c2r)(int rank, const Dim* dims, int howmany_rank, const Dim* howmany, C* in,   \
                                             R* out, unsigned flags) {                                                 \
    return guru(Form::C2R, false, false, rank, dims, howmany_rank, howmany, nullptr,                                   \
                {real(in), nullptr, out, nullptr}, flags);                                                             \
  }                                                                                                                    \
  Plan* TRN_FFTW(plan_##guru_name##_split_dft_r2c)(int rank, const Dim* dims, int howmany_rank, const Dim* howmany,    \
                                                   R* in, R* ro, R* io, unsigned flags) {                              \
    return guru(Form::R2C, true, true, rank, dims, howmany_rank, howmany, nullptr, {in, nullptr, ro, io}, flags);      \
  }                                                                                                                    \
  Plan* TRN_FFTW(plan_##guru_name##_split_dft_c2r)(int rank, const Dim* dims, int howmany_rank, const Dim* howmany,    \
                                                   R* ri, R* ii, R* out, unsigned flags) {                             \
    return guru(Form::C2R, true, false, rank, dims, howmany_rank, howmany, nullptr, {ri, ii, out, nullptr}, flags);    \
  }                                                                                                                    \
  Plan* TRN_FFTW(plan_##guru_name##_r2r)(int rank, const Dim* dims, int howmany_rank, const Dim* howmany, R* in,       \
                                         R* out, const int* kind, unsigned flags) {                                    \
    return guru(Form::R2R, false, true, rank, dims, howmany_rank, howmany, kind, {in, nullptr, out, nullptr}, flags);  \
  }
TRN_FFTW_GURU(guru, Iodim)
TRN_FFTW_GURU(guru64, Iodim64)

void TRN_FFTW(execute)(const Plan* p) {
  if (!p->plain) return run(p, p->sides);
  const auto pairs = [](R* address) { return reinterpret_cast<C*>(address); };
  R *const in = p->sides.re_in, *const out = p->sides.re_out;
  switch (p->transform.problem().form) {
    case Form::C2C:
      return run(p, pairs(in), pairs(out));
    case Form::R2C:
      return run(p, in, pairs(out));
    case Form::C2R:
      return run(p, pairs(in), out);
    case Form::R2R:
      return run(p, p->sides);
  }
}
void TRN_FFTW(execute_dft)(const Plan* p, C* in, C* out) { run(p, in, out); }
void TRN_FFTW(execute_split_dft)(const Plan* p, R* ri, R* ii, R* ro, R* io) { run(p, {ri, ii, ro, io}); }
void TRN_FFTW(execute_dft_r2c)(const Plan* p, R* in, C* out) { run(p, in, out); }
void TRN_FFTW(execute_dft_c2r)(const Plan* p, C* in, R* out) { run(p, in, out); }
void TRN_FFTW(execute_split_dft_r2c)(const Plan* p, R* in, R* ro, R* io) { run(p, {in, nullptr, ro, io}); }
void TRN_FFTW(execute_split_dft_c2r)(const Plan* p, R* ri, R* ii, R* out) { run(p, {ri, ii, out, nullptr}); }
void TRN_FFTW(execute_r2r)(const Plan* p, R* in, R* out) { run(p, {in, nullptr, out, nullptr}); }
void TRN_FFTW(destroy_plan)(Plan* p) { delete p; }

// Work is reported as additions; there is no search, so the cost of a plan is the estimate.
void TRN_FFTW(flops)(const Plan* p, double* add, double* mul, double* fma) {
  *add = 0.6 * p->transform.work(), *mul = 0.4 * p->transform.work(), *fma = 0;
}
double TRN_FFTW(estimate_cost)(const Plan* p) { return p->transform.work(); }
double TRN_FFTW(cost)(const Plan* p) { return p->transform.work(); }

char* TRN_FFTW(sprint_plan)(const Plan* p) {
  const std::string text = "(trnfft " + p->transform.problem().text() + ")";
  auto* copy = static_cast<char*>(std::malloc(text.size() + 1));
  if (copy) text.copy(copy, text.size()), copy[text.size()] = '\0';
  return copy;
}
void TRN_FFTW(fprint_plan)(const Plan* p, std::FILE* file) {
  std::fprintf(file, "(trnfft %s)", p->transform.problem().text().c_str());
}
void TRN_FFTW(print_plan)(const Plan* p) { TRN_FFTW(fprint_plan)(p, stdout); }

// FFTW's legacy Fortran interface: a plan is an integer of 8 bytes, every argument an address, and extents come in
// Fortran's order, which is C's backwards (not in the guru's, whose dimensions have strides). Compilers add one or two
// underscores.
#ifdef TRN_FFTW_SINGLE
#define TRN_FORTRAN_NAME(name) sfftw_##name
#else
#define TRN_FORTRAN_NAME(name) dfftw_##name
#endif
#define TRN_JOIN(a, b) TRN_JOIN_LATER(a, b)
#define TRN_JOIN_LATER(a, b) a##b
#define TRN_FORTRAN(name, parameters, body)                     \
  void TRN_JOIN(TRN_FORTRAN_NAME(name), _) parameters { body; } \
  void TRN_JOIN(TRN_FORTRAN_NAME(name), __) parameters { body; }

static std::vector<int> backwards(const int* rank, const int* n) {
  std::vector<int> turned(n, n + std::max(*rank, 0));
  std::reverse(turned.begin(), turned.end());
  return turned;
}
static std::vector<Iodim> dims(const int* rank, const int* n, const int* is, const int* os) {
  std::vector<Iodim> made;
  for (int i = 0; *rank != INT_MAX && i < *rank; ++i) made.push_back({n[i], is[i], os[i]});
  return made;
}

// plan_dft and its companions for one pair of types: `I`, `O` the elements, then what follows the addresses.
#define TRN_FORTRAN_PLANS(kind, I, O, LAST, last)                                                                      \
  TRN_FORTRAN(                                                                                                         \
      plan_##kind, (Plan * *p, const int* rank, const int* n, I* in, O* out LAST, const int* flags),                   \
      *p = TRN_FFTW(plan_##kind)(*rank, backwards(rank, n).data(), in, out last, static_cast<unsigned>(*flags)))       \
  TRN_FORTRAN(plan_##kind##_1d, (Plan * *p, const int* n, I* in, O* out LAST, const int* flags),                       \
              *p = TRN_FFTW(plan_##kind##_1d)(*n, in, out last, static_cast<unsigned>(*flags)))                        \
  TRN_FORTRAN(plan_##kind##_2d, (Plan * *p, const int* nx, const int* ny, I* in, O* out LAST, const int* flags),       \
              *p = TRN_FFTW(plan_##kind##_2d)(*ny, *nx, in, out last, static_cast<unsigned>(*flags)))                  \
  TRN_FORTRAN(plan_##kind##_3d,                                                                                        \
              (Plan * *p, const int* nx, const int* ny, const int* nz, I* in, O* out LAST, const int* flags),          \
              *p = TRN_FFTW(plan_##kind##_3d)(*nz, *ny, *nx, in, out last, static_cast<unsigned>(*flags)))             \
  TRN_FORTRAN(                                                                                                         \
      plan_many_##kind,                                                                                                \
      (Plan * *p, const int* rank, const int* n, const int* howmany, I* in, const int* inembed, const int* istride,    \
       const int* idist, O* out, const int* onembed, const int* ostride, const int* odist LAST, const int* flags),     \
      *p = TRN_FFTW(plan_many_##kind)(*rank, backwards(rank, n).data(), *howmany, in, backwards(rank, inembed).data(), \
                                      *istride, *idist, out, backwards(rank, onembed).data(), *ostride, *odist last,   \
                                      static_cast<unsigned>(*flags)))                                                  \
  TRN_FORTRAN(plan_guru_##kind,                                                                                        \
              (Plan * *p, const int* rank, const int* n, const int* is, const int* os, const int* howmany_rank,        \
               const int* h_n, const int* h_is, const int* h_os, I* in, O* out LAST, const int* flags),                \
              *p = TRN_FFTW(plan_guru_##kind)(*rank, dims(rank, n, is, os).data(), *howmany_rank,                      \
                                              dims(howmany_rank, h_n, h_is, h_os).data(), in, out last,                \
                                              static_cast<unsigned>(*flags)))                                          \
  TRN_FORTRAN(execute_##kind, (Plan* const* p, I* in, O* out), TRN_FFTW(execute_##kind)(*p, in, out))
#define TRN_SIGN , const int* sign
#define TRN_SIGN_VALUE , *sign
#define TRN_NOTHING
TRN_FORTRAN_PLANS(dft, C, C, TRN_SIGN, TRN_SIGN_VALUE)
TRN_FORTRAN_PLANS(dft_r2c, R, C, TRN_NOTHING, TRN_NOTHING)
TRN_FORTRAN_PLANS(dft_c2r, C, R, TRN_NOTHING, TRN_NOTHING)

TRN_FORTRAN(plan_r2r, (Plan * *p, const int* rank, const int* n, R* in, R* out, const int* kind, const int* flags),
            *p = TRN_FFTW(plan_r2r)(*rank, backwards(rank, n).data(), in, out, backwards(rank, kind).data(),
                                    static_cast<unsigned>(*flags)))
TRN_FORTRAN(plan_r2r_1d, (Plan * *p, const int* n, R* in, R* out, const int* kind, const int* flags),
            *p = TRN_FFTW(plan_r2r_1d)(*n, in, out, *kind, static_cast<unsigned>(*flags)))
TRN_FORTRAN(plan_r2r_2d,
            (Plan * *p, const int* nx, const int* ny, R* in, R* out, const int* kindx, const int* kindy,
             const int* flags),
            *p = TRN_FFTW(plan_r2r_2d)(*ny, *nx, in, out, *kindy, *kindx, static_cast<unsigned>(*flags)))
TRN_FORTRAN(plan_r2r_3d,
            (Plan * *p, const int* nx, const int* ny, const int* nz, R* in, R* out, const int* kindx, const int* kindy,
             const int* kindz, const int* flags),
            *p = TRN_FFTW(plan_r2r_3d)(*nz, *ny, *nx, in, out, *kindz, *kindy, *kindx, static_cast<unsigned>(*flags)))
TRN_FORTRAN(execute_r2r, (Plan* const* p, R* in, R* out), TRN_FFTW(execute_r2r)(*p, in, out))
TRN_FORTRAN(execute_split_dft, (Plan* const* p, R* ri, R* ii, R* ro, R* io),
            TRN_FFTW(execute_split_dft)(*p, ri, ii, ro, io))
TRN_FORTRAN(execute, (Plan* const* p), TRN_FFTW(execute)(*p))
TRN_FORTRAN(destroy_plan, (Plan* const* p), TRN_FFTW(destroy_plan)(*p))
TRN_FORTRAN(print_plan, (Plan* const* p), TRN_FFTW(print_plan)(*p))
TRN_FORTRAN(flops, (Plan* const* p, double* add, double* mul, double* fma), TRN_FFTW(flops)(*p, add, mul, fma))
TRN_FORTRAN(cost, (double* cost, Plan* const* p), *cost = TRN_FFTW(cost)(*p))
TRN_FORTRAN(estimate_cost, (double* cost, Plan* const* p), *cost = TRN_FFTW(estimate_cost)(*p))

void TRN_FFTW(cleanup)();
void TRN_FFTW(cleanup_threads)();
void TRN_FFTW(forget_wisdom)();
void TRN_FFTW(plan_with_nthreads)(int threads);
TRN_FORTRAN(cleanup, (), TRN_FFTW(cleanup)())
TRN_FORTRAN(cleanup_threads, (), TRN_FFTW(cleanup_threads)())
TRN_FORTRAN(forget_wisdom, (), TRN_FFTW(forget_wisdom)())
TRN_FORTRAN(init_threads, (int* okay), *okay = 1)
TRN_FORTRAN(plan_with_nthreads, (const int* threads), TRN_FFTW(plan_with_nthreads)(*threads))
TRN_FORTRAN(set_timelimit, (const double*), static_cast<void>(0))
TRN_FORTRAN(import_system_wisdom, (int* okay), *okay = 0)

}  // extern "C"

}  // namespace trn::dropin
