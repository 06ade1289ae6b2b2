// The bodies of cuFFT's routines: everything that capi/api/fft.api names.
#pragma once

#include <complex>

#include <trn/fft/plan.hpp>

#include <trnfft.h>

#include "../call.hpp"
#include "../memory.hpp"

namespace trn::capi::fft {

inline constexpr StatusCodes kCodes{1, 4, 16, 2, 6, 5};

// A plan by its number. What it computes is set once; the C++ plans behind it are made for the directions and layouts
// that are asked for.
struct PlanObject;
std::shared_ptr<PlanObject> plan_of(trnfftHandle plan);
StreamObject& stream_of_plan(PlanObject& plan);

template <class F> trnfftResult call(trnfftHandle plan, const char* function, const F& body) noexcept {
  return static_cast<trnfftResult>(guarded(function, kCodes, [&] {
    const auto alive = plan_of(plan);
    run(stream_of_plan(*alive), [&] { body(*alive); });
  }));
}
template <class F> trnfftResult call(const char* function, const F& body) noexcept {
  return static_cast<trnfftResult>(guarded(function, kCodes, body));
}

void plan_1d(trnfftHandle* plan, int nx, trnfftType type, int batch);
void plan_2d(trnfftHandle* plan, int nx, int ny, trnfftType type);
void plan_3d(trnfftHandle* plan, int nx, int ny, int nz, trnfftType type);
void plan_many(trnfftHandle* plan, int rank, int* n, int* inembed, int istride, int idist, int* onembed, int ostride,
               int odist, trnfftType type, int batch);
void create(trnfftHandle* plan);
void make_plan_1d(PlanObject& plan, int nx, trnfftType type, int batch, std::size_t* work_size);
void make_plan_2d(PlanObject& plan, int nx, int ny, trnfftType type, std::size_t* work_size);
void make_plan_3d(PlanObject& plan, int nx, int ny, int nz, trnfftType type, std::size_t* work_size);
void make_plan_many(PlanObject& plan, int rank, int* n, int* inembed, int istride, int idist, int* onembed, int ostride,
                    int odist, trnfftType type, int batch, std::size_t* work_size);
void make_plan_many_64(PlanObject& plan, int rank, long long* n, long long* inembed, long long istride, long long idist,
                       long long* onembed, long long ostride, long long odist, trnfftType type, long long batch,
                       std::size_t* work_size);
void get_size(PlanObject& plan, std::size_t* work_size);
void set_work_area(PlanObject& plan, void* work_area);
void set_auto_allocation(PlanObject& plan, int automatic);
void set_stream(PlanObject& plan, trnStream_t stream);
void destroy(PlanObject& plan);
void get_version(int* version);
template <class T> void exec_c2c(PlanObject& plan, std::complex<T>* in, std::complex<T>* out, int direction);
template <class T> void exec_r2c(PlanObject& plan, T* in, std::complex<T>* out);
template <class T> void exec_c2r(PlanObject& plan, std::complex<T>* in, T* out);
void set_precision(PlanObject& plan, const char* precision);
void get_bound(PlanObject& plan, double* bound);

}  // namespace trn::capi::fft
