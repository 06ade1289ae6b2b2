// Grids, descriptors and routines of cusolverMg: see solvermg.hpp.
#include "solvermg.hpp"

namespace trn::capi::solvermg {

namespace {

struct Grid {
  int device;
};
struct Description {
  Int rows, columns;
  Type type;
  int device;
};
// For a grid or a descriptor that is not alive the status is INVALID_VALUE: NOT_INITIALIZED is for the handle.
template <class T> std::shared_ptr<T> look(const void* address, const char* kind) {
  auto found = alive<T>().get(address);
  require(found != nullptr, "the {} is {}", kind,
          address ? "not alive: it was destroyed, or is something else" : "null");
  return found;
}

// Element (row, column), counted from 1, of a matrix that one device holds.
struct Part {
  Type type;
  void* data;
  Int lda;
};
Part part(const Call& c, void** array, int row, int column, const void* descriptor, Type compute) {
  const auto d = look<Description>(descriptor, "matrix descriptor");
  require(array != nullptr, "the list of the devices' matrices is null");
  require(row >= 1 && row <= d->rows && column >= 1 && column <= d->columns,
          "the part begins at ({}, {}) of a matrix of {} x {}, counted from 1", row, column, d->rows, d->columns);
  require(device(d->device).number == c.handle.device->number,
          "the matrix lies on device {} and the handle works on device {}", d->device, c.handle.device->number);
  if (compute != d->type)
    fail<NotImplemented>("arithmetic of type {} with a matrix of type {}", static_cast<int>(compute),
                         static_cast<int>(d->type));
  Part found{d->type, array[0], d->rows};
  with_type(d->type, [&]<class T>(T*) { found.data = static_cast<T*>(array[0]) + (row - 1) + (column - 1) * d->rows; });
  return found;
}
int* pivots_of(int** array, int column) {
  require(array != nullptr && array[0] != nullptr, "the list of the devices' pivots is null");
  return array[0] + (column - 1);
}

}  // namespace

void create(trnsolverMgHandle_t* handle) { create_handle(handle); }
void destroy(Call& c) { alive<trnsolverMgContext>().remove(&c.handle); }
void device_select(Call& c, int count, int* ids) {
  require(count > 0 && ids != nullptr, "{} devices are selected; at least one is needed", count);
  if (count > 1) fail<NotImplemented>("{} devices; a grid has one", count);
  require(ids[0] >= 0 && ids[0] < device_count(), "device {} is not there; devices are 0 to {}", ids[0],
          device_count() - 1);
  Device& d = device(ids[0]);
  c.handle.device = &d;
  c.handle.generation = d.generation;
  c.handle.stream = {std::shared_ptr<void>(), &d.legacy};  // not owned: the device outlives it
}
void create_device_grid(trnLibMgGrid_t* grid, std::int32_t rows, std::int32_t columns, const std::int32_t* ids,
                        trnsolverMgGridMapping_t mapping) {
  require(grid != nullptr && ids != nullptr, "the address of the grid or of the devices' numbers is null");
  require(rows >= 1 && columns >= 1, "a grid of {} x {} devices", rows, columns);
  require(mapping == TRNLIBMG_GRID_MAPPING_COL_MAJOR || mapping == TRNLIBMG_GRID_MAPPING_ROW_MAJOR,
          "the mapping is {}; it must be 0 or 1", static_cast<int>(mapping));
  if (rows > 1 || columns > 1) fail<NotImplemented>("a grid of {} x {} devices; it has one", rows, columns);
  require(ids[0] >= 0 && ids[0] < device_count(), "device {} is not there; devices are 0 to {}", ids[0],
          device_count() - 1);
  *grid = alive<Grid>().add(std::make_shared<Grid>(Grid{ids[0]}));
}
void destroy_grid(trnLibMgGrid_t grid) {
  (void)look<Grid>(grid, "grid");
  alive<Grid>().remove(grid);
}
void create_matrix_desc(trnLibMgMatrixDesc_t* descriptor, Int rows, Int columns, Int row_block, Int column_block,
                        Type type, trnLibMgGrid_t grid) {
  require(descriptor != nullptr, "desc is null; it receives the descriptor");
  require(rows >= 1 && columns >= 1 && column_block >= 1, "a matrix of {} x {} in blocks of {} columns", rows, columns,
          column_block);
  if (row_block != rows) fail<NotImplemented>("blocks of {} rows of {}; a block has all rows", row_block, rows);
  with_type(type, [](auto*) {});
  const auto on = look<Grid>(grid, "grid");
  *descriptor = alive<Description>().add(std::make_shared<Description>(Description{rows, columns, type, on->device}));
}
void destroy_matrix_desc(trnLibMgMatrixDesc_t descriptor) {
  (void)look<Description>(descriptor, "matrix descriptor");
  alive<Description>().remove(descriptor);
}

// f(a, lda) on the part of a matrix, with its type.
template <class F> void on_part(const Part& p, const F& f) {
  with_type(p.type, [&]<class T>(T*) { f(as<T>(p.data), p.lda); });
}
void syevd(Call& c, ModeArg mode, UploArg uplo, int n, void** a, int ia, int ja, trnLibMgMatrixDesc_t da, void* w,
           Type w_type, Type compute, int* info) {
  const auto p = part(c, a, ia, ja, da, compute);
  require_one_type({real_of(p.type), w_type});
  on_part(p, [&]<class T>(T* to, Int lda) { solver::syevd<T>(c, mode, uplo, n, to, lda, as<blas::Real<T>>(w), info); });
}
void getrf(Call& c, int m, int n, void** a, int ia, int ja, trnLibMgMatrixDesc_t da, int** pivots, Type compute,
           int* info) {
  on_part(part(c, a, ia, ja, da, compute),
          [&]<class T>(T* to, Int lda) { solver::getrf<T>(c, m, n, to, lda, pivots_of(pivots, ja), info); });
}
void getrs(Call& c, OpArg op, int n, int nrhs, void** a, int ia, int ja, trnLibMgMatrixDesc_t da, int** pivots,
           void** b, int ib, int jb, trnLibMgMatrixDesc_t db, Type compute, int* info) {
  const auto right = part(c, b, ib, jb, db, compute);
  on_part(part(c, a, ia, ja, da, compute), [&]<class T>(const T* from, Int lda) {
    solver::getrs<T>(c, op, n, nrhs, from, lda, pivots_of(pivots, ja), as<T>(right.data), right.lda, info);
  });
}
void potrf(Call& c, UploArg uplo, int n, void** a, int ia, int ja, trnLibMgMatrixDesc_t da, Type compute, int* info) {
  on_part(part(c, a, ia, ja, da, compute),
          [&]<class T>(T* to, Int lda) { solver::potrf<T>(c, uplo, n, to, lda, info); });
}
void potrs(Call& c, UploArg uplo, int n, int nrhs, void** a, int ia, int ja, trnLibMgMatrixDesc_t da, void** b, int ib,
           int jb, trnLibMgMatrixDesc_t db, Type compute, int* info) {
  const auto right = part(c, b, ib, jb, db, compute);
  on_part(part(c, a, ia, ja, da, compute), [&]<class T>(const T* from, Int lda) {
    solver::potrs<T>(c, uplo, n, nrhs, from, lda, as<T>(right.data), right.lda, info);
  });
}
void potri(Call& c, UploArg uplo, int n, void** a, int ia, int ja, trnLibMgMatrixDesc_t da, Type compute, int* info) {
  on_part(part(c, a, ia, ja, da, compute),
          [&]<class T>(T* to, Int lda) { solver::potri<T>(c, uplo, n, to, lda, info); });
}

}  // namespace trn::capi::solvermg
