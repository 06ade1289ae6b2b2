// Handles and settings of cublasXt.
#include "blasxt.hpp"

namespace trn::capi::blasxt {

void create(trnblasXtHandle_t* handle) { create_handle(handle); }
void destroy(Call& c) { alive<trnblasXtContext>().remove(&c.handle); }

namespace {
void check_devices(int count, const int* ids) {
  for (int i = 0; i < count; ++i)
    require(ids[i] >= 0 && ids[i] < device_count(), "device {} is not there; devices are 0 to {}", ids[i],
            device_count() - 1);
}
}  // namespace
// A board is a device.
void get_num_boards(int count, int* ids, int* boards) {
  require(count >= 0 && boards != nullptr && (count == 0 || ids != nullptr),
          "{} devices are named, and the address of their list or of the result is null", count);
  check_devices(count, ids);
  *boards = count;
}
void max_boards(int* boards) { answer("nbGpuBoards", boards, device_count()); }
void device_select(Call& c, int count, int* ids) {
  require(count > 0 && ids != nullptr, "{} devices are selected; at least one is needed", count);
  check_devices(count, ids);
  Device& first = device(ids[0]);
  c.xt.device = &first;
  c.xt.generation = first.generation;
  c.xt.stream = {std::shared_ptr<void>(), &first.legacy};  // not owned: the device outlives it
}
void set_block_dim(Call& c, int block) {
  require(block > 0, "the block dimension is {}; it must be above 0", block);
  c.xt.block_dim = block;
}
void get_block_dim(Call& c, int* block) { answer("blockDim", block, c.xt.block_dim); }
void set_pinning_mem_mode(Call& c, trnblasXtPinnedMemMode_t mode) {
  require(mode == TRNBLASXT_PINNING_DISABLED || mode == TRNBLASXT_PINNING_ENABLED, "the mode is {}; it must be 0 or 1",
          static_cast<int>(mode));
  c.xt.pinning = mode;
}
void get_pinning_mem_mode(Call& c, trnblasXtPinnedMemMode_t* mode) { answer("mode", mode, c.xt.pinning); }
// The host never shares a device's work: a ratio of 0 is what happens, another is refused.
void set_cpu_ratio(Call&, trnblasXtBlasOp_t operation, trnblasXtOpType_t type, float ratio) {
  require(operation >= TRNBLASXT_GEMM && operation < TRNBLASXT_ROUTINE_MAX && type >= TRNBLASXT_FLOAT &&
              type <= TRNBLASXT_DOUBLECOMPLEX && ratio >= 0 && ratio <= 1,
          "operation {} of type {}, ratio {}", static_cast<int>(operation), static_cast<int>(type), ratio);
  if (ratio != 0) fail<NotImplemented>("work shared with the host (a ratio of {})", ratio);
}

}  // namespace trn::capi::blasxt
