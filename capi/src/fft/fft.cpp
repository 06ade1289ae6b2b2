// Plans: cuFFT's shapes and layouts over trn::fft::Plan. A cuFFT plan serves both directions and, in the basic layout,
// real transforms out of place (dense rows) and in place (rows padded to 2 (n/2 + 1) reals): each C++ plan behind it is
// made when it is first asked for.
#include "fft.hpp"

namespace trn::capi::fft {

using trn::fft::Description, trn::fft::Direction, trn::fft::Kind;

namespace {

struct Plans {
  std::mutex mutex;
  std::map<int, std::shared_ptr<PlanObject>> alive;
  int last = 0;
};
Plans& plans() {
  static Plans& made = *new Plans;  // never destroyed: as the devices
  return made;
}

bool is_wide(trnfftType type) { return type == TRNFFT_Z2Z || type == TRNFFT_D2Z || type == TRNFFT_Z2D; }
Kind kind_of(trnfftType type) {
  switch (type) {
    case TRNFFT_C2C:
    case TRNFFT_Z2Z:
      return Kind::ComplexToComplex;
    case TRNFFT_R2C:
    case TRNFFT_D2Z:
      return Kind::RealToComplex;
    case TRNFFT_C2R:
    case TRNFFT_Z2D:
      return Kind::ComplexToReal;
  }
  throw WithStatus(TRNFFT_INVALID_TYPE,
                   fmt::format("the type is {}; it must be one of trnfftType", static_cast<int>(type)));
}

std::int64_t volume(const std::vector<std::int64_t>& lengths) {
  std::int64_t product = 1;
  for (const std::int64_t n : lengths)
    if (n < 1 || __builtin_mul_overflow(product, n, &product))
      throw WithStatus(TRNFFT_INVALID_SIZE, fmt::format("a length is {}, or the lengths' product is too large", n));
  return product;
}

// The description of one C++ plan.
Description describe(const PlanObject& p, Direction direction, bool padded) {
  const Kind kind = kind_of(p.type);
  Description d = p.layout ? trn::fft::many(kind, direction, p.lengths, p.layout->in, p.layout->out, p.batch)
                           : trn::fft::dense(kind, direction, p.lengths, {p.batch, padded});
  const bool exact = is_wide(p.type) && p.device->executor.family() == Family::Device;  // a device has no other float64
  d.precision = p.precision.value_or(exact ? Precision(Mode::Exact) : Precision());
  return d;
}

template <class T> auto& cache(PlanObject& p) {
  if constexpr (std::is_same_v<T, float>) {
    return p.narrow;
  } else {
    return p.wide;
  }
}

template <class T> const trn::fft::Plan<T>& made_for(PlanObject& p, Direction direction, bool padded) {
  require(p.made, "the plan was created and never made; call a MakePlan function first");
  if (is_wide(p.type) != std::is_same_v<T, double>)
    throw WithStatus(TRNFFT_INVALID_TYPE, "the plan has another precision than the call");
  auto& known = cache<T>(p);
  const int key = (direction == Direction::Inverse ? 1 : 0) + (padded ? 2 : 0);
  const auto found = known.find(key);
  if (found != known.end()) return found->second;
  return known.emplace(key, trn::fft::Plan<T>(p.device->executor, describe(p, direction, padded))).first->second;
}
Direction natural(trnfftType type) {
  return kind_of(type) == Kind::ComplexToReal ? Direction::Inverse : Direction::Forward;
}

void make(PlanObject& p, std::vector<std::int64_t> lengths, trnfftType type, std::int64_t batch,
          std::optional<PlanObject::Layout> layout, std::size_t* work_size) {
  require(!p.made, "the plan was made already; create a new one");
  (void)kind_of(type);
  (void)volume(lengths);
  if (batch < 1) throw WithStatus(TRNFFT_INVALID_SIZE, fmt::format("the batch is {}; it must be at least 1", batch));
  PlanObject draft = p;  // nothing changes when a plan is refused
  draft.type = type, draft.lengths = std::move(lengths), draft.batch = batch, draft.layout = std::move(layout);
  draft.made = true;
  std::int64_t bytes = 0;
  if (is_wide(type)) {
    bytes = made_for<double>(draft, natural(type), false).workspace_bytes();
  } else {
    bytes = made_for<float>(draft, natural(type), false).workspace_bytes();
  }
  p = std::move(draft);
  if (work_size) *work_size = static_cast<std::size_t>(bytes);
}

template <class I> void make_many(PlanObject& p, int rank, const I* n, const I* inembed, std::int64_t istride,
                                  std::int64_t idist, const I* onembed, std::int64_t ostride, std::int64_t odist,
                                  trnfftType type, std::int64_t batch, std::size_t* work_size) {
  // Lengths above 1 whose product is a number of 64 bits are 63 at most.
  if (rank < 1 || rank > 64)
    throw WithStatus(TRNFFT_INVALID_SIZE, fmt::format("the rank is {}; it must be 1 to 64", rank));
  require(n != nullptr, "n is null; it holds the lengths");
  const auto list = [&](const I* from) { return std::vector<std::int64_t>(from, from + rank); };
  std::optional<PlanObject::Layout> layout;
  // As cuFFT 13 refuses it; on a plan of ours 0 would mean one transform behind the other.
  require(!inembed || !onembed || batch <= 1 || (idist != 0 && odist != 0),
          "idist is {} and odist is {} for {} transforms; give the distance from one to the next", idist, odist, batch);
  // cuFFT: where either is null, all of the layout is the basic one.
  if (inembed && onembed) layout = PlanObject::Layout{{list(inembed), istride, idist}, {list(onembed), ostride, odist}};
  make(p, list(n), type, batch, std::move(layout), work_size);
}

// Everything from an address to the end of its block: the plan checks what it touches against it.
template <class T> View<T> operand(const PlanObject& p, const char* what, T* address) {
  T* const data = device_memory(*p.device, what, address, sizeof(T));
  const auto block = block_of(address);
  const auto room = block->bytes - static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(address) - block->begin);
  return {p.device->executor, data, {room / static_cast<std::int64_t>(sizeof(T))}};
}

}  // namespace

std::shared_ptr<PlanObject> plan_of(trnfftHandle number) {
  Plans& p = plans();
  const std::lock_guard lock(p.mutex);
  const auto found = p.alive.find(number);
  if (found == p.alive.end()) throw BadHandle(fmt::format("plan {} is not alive", number));
  if (found->second->generation != found->second->device->generation) throw BadHandle("the plan's device was reset");
  return found->second;
}

void create(trnfftHandle* handle) {
  require(handle != nullptr, "plan is null; it receives the plan");
  auto made = std::make_shared<PlanObject>(current_device(), stream_of(nullptr));
  made->precision = initial_precision();
  Plans& p = plans();
  const std::lock_guard lock(p.mutex);
  made->number = ++p.last;
  *handle = made->number;
  p.alive[made->number] = std::move(made);
}
void destroy(PlanObject& plan) {
  Plans& p = plans();
  std::shared_ptr<PlanObject> gone;
  const std::lock_guard lock(p.mutex);
  gone = std::move(p.alive[plan.number]);
  p.alive.erase(plan.number);
}
void get_version(int* version) { answer("version", version, 12000); }

void make_plan_1d(PlanObject& p, int nx, trnfftType type, int batch, std::size_t* work_size) {
  make(p, {nx}, type, batch, {}, work_size);
}
void make_plan_2d(PlanObject& p, int nx, int ny, trnfftType type, std::size_t* work_size) {
  make(p, {nx, ny}, type, 1, {}, work_size);
}
void make_plan_3d(PlanObject& p, int nx, int ny, int nz, trnfftType type, std::size_t* work_size) {
  make(p, {nx, ny, nz}, type, 1, {}, work_size);
}
void make_plan_many(PlanObject& p, int rank, int* n, int* inembed, int istride, int idist, int* onembed, int ostride,
                    int odist, trnfftType type, int batch, std::size_t* work_size) {
  make_many(p, rank, n, inembed, istride, idist, onembed, ostride, odist, type, batch, work_size);
}
void make_plan_many_64(PlanObject& p, int rank, long long* n, long long* inembed, long long istride, long long idist,
                       long long* onembed, long long ostride, long long odist, trnfftType type, long long batch,
                       std::size_t* work_size) {
  make_many(p, rank, n, inembed, istride, idist, onembed, ostride, odist, type, batch, work_size);
}
namespace {
// cuFFT's type for the types of both sides, which must agree with the arithmetic.
trnfftType type_of(trnDataType in, trnDataType out, trnDataType execution) {
  const auto is = [&](trnDataType a, trnDataType b, trnDataType c) { return in == a && out == b && execution == c; };
  if (is(TRN_C_32F, TRN_C_32F, TRN_C_32F)) return TRNFFT_C2C;
  if (is(TRN_R_32F, TRN_C_32F, TRN_C_32F)) return TRNFFT_R2C;
  if (is(TRN_C_32F, TRN_R_32F, TRN_C_32F)) return TRNFFT_C2R;
  if (is(TRN_C_64F, TRN_C_64F, TRN_C_64F)) return TRNFFT_Z2Z;
  if (is(TRN_R_64F, TRN_C_64F, TRN_C_64F)) return TRNFFT_D2Z;
  if (is(TRN_C_64F, TRN_R_64F, TRN_C_64F)) return TRNFFT_Z2D;
  fail<NotImplemented>("transforms from type {} to type {} in arithmetic of type {}; there are float and double",
                       static_cast<int>(in), static_cast<int>(out), static_cast<int>(execution));
}
}  // namespace

void xt_make_plan_many(PlanObject& p, int rank, long long* n, long long* inembed, long long istride, long long idist,
                       trnDataType in, long long* onembed, long long ostride, long long odist, trnDataType out,
                       long long batch, std::size_t* work_size, trnDataType execution) {
  make_many(p, rank, n, inembed, istride, idist, onembed, ostride, odist, type_of(in, out, execution), batch,
            work_size);
}
// The direction counts for complex plans alone.
void xt_exec(PlanObject& p, void* in, void* out, int direction) {
  const auto exec = [&]<class T>(T*) {
    auto* const complex_in = static_cast<std::complex<T>*>(in);
    auto* const complex_out = static_cast<std::complex<T>*>(out);
    if (kind_of(p.type) == Kind::RealToComplex) return exec_r2c<T>(p, static_cast<T*>(in), complex_out);
    if (kind_of(p.type) == Kind::ComplexToReal) return exec_c2r<T>(p, complex_in, static_cast<T*>(out));
    exec_c2c<T>(p, complex_in, complex_out, direction);
  };
  if (is_wide(p.type)) return exec(static_cast<double*>(nullptr));
  exec(static_cast<float*>(nullptr));
}

void get_size(PlanObject& p, std::size_t* work_size) {
  answer("workSize", work_size,
         static_cast<std::size_t>(is_wide(p.type) ? made_for<double>(p, natural(p.type), false).workspace_bytes()
                                                  : made_for<float>(p, natural(p.type), false).workspace_bytes()));
}
// Plans find memory of their own for a call.
void set_work_area(PlanObject&, void*) {}
void set_auto_allocation(PlanObject&, int) {}
void set_stream(PlanObject& p, trnStream_t stream) { capi::set_stream(p, stream, "plan"); }

template <class T> void exec_c2c(PlanObject& p, std::complex<T>* in, std::complex<T>* out, int direction) {
  require(direction == -1 || direction == 1, "the direction is {}; it must be -1 (forward) or 1 (inverse)", direction);
  if (p.made && kind_of(p.type) != Kind::ComplexToComplex)
    throw WithStatus(TRNFFT_INVALID_TYPE, "the plan is for a real transform");
  const auto& made = made_for<T>(p, direction == -1 ? Direction::Forward : Direction::Inverse, false);
  made.execute(View<const std::complex<T>>(operand(p, "idata", in)), operand(p, "odata", out));
}
template <class T> void exec_r2c(PlanObject& p, T* in, std::complex<T>* out) {
  if (p.made && kind_of(p.type) != Kind::RealToComplex)
    throw WithStatus(TRNFFT_INVALID_TYPE, "the plan is not for real to complex");
  const bool in_place = static_cast<void*>(in) == static_cast<void*>(out);
  const auto& made = made_for<T>(p, Direction::Forward, in_place && !p.layout);
  made.execute(View<const T>(operand(p, "idata", in)), operand(p, "odata", out));
}
template <class T> void exec_c2r(PlanObject& p, std::complex<T>* in, T* out) {
  if (p.made && kind_of(p.type) != Kind::ComplexToReal)
    throw WithStatus(TRNFFT_INVALID_TYPE, "the plan is not for complex to real");
  const bool in_place = static_cast<void*>(in) == static_cast<void*>(out);
  const auto& made = made_for<T>(p, Direction::Inverse, in_place && !p.layout);
  made.execute(View<const std::complex<T>>(operand(p, "idata", in)), operand(p, "odata", out));
}
template void exec_c2c(PlanObject&, std::complex<float>*, std::complex<float>*, int);
template void exec_c2c(PlanObject&, std::complex<double>*, std::complex<double>*, int);
template void exec_r2c(PlanObject&, float*, std::complex<float>*);
template void exec_r2c(PlanObject&, double*, std::complex<double>*);
template void exec_c2r(PlanObject&, std::complex<float>*, float*);
template void exec_c2r(PlanObject&, std::complex<double>*, double*);

void set_precision(PlanObject& p, const char* precision) {
  require(precision != nullptr, "precision is null; use a name such as \"exact\" or \"target=1e-6\"");
  require(!p.made, "the plan was made already; set the precision between Create and MakePlan");
  p.precision = Precision::parse(precision);
}
void get_bound(PlanObject& p, double* bound) {
  answer("bound", bound,
         is_wide(p.type) ? made_for<double>(p, natural(p.type), false).accuracy().bound
                         : made_for<float>(p, natural(p.type), false).accuracy().bound);
}

}  // namespace trn::capi::fft
