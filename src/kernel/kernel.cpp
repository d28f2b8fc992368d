#include "kernel/kernel.hpp"

#include "kernel/strategy.hpp"

namespace xorder::kernel {

struct Kernel::Impl {
  std::unique_ptr<Strategy> strategy;
};

Kernel::Kernel(Layout layout) : impl_(std::make_unique<Impl>()) {
  for (const auto make : {make_copy, make_picked, make_transpose, make_linear, make_one_by_one}) {
    if ((impl_->strategy = make(layout))) return;
  }
}

Kernel::~Kernel() = default;
Kernel::Kernel(Kernel&&) noexcept = default;
Kernel& Kernel::operator=(Kernel&&) noexcept = default;

void Kernel::operator()(const std::byte* const* sources, std::byte* const* targets,
                        std::span<const std::uint64_t> lengths, gf2::Word offset) const {
  impl_->strategy->run({sources, targets, lengths, offset});
}

const char* Kernel::strategy() const { return impl_->strategy->name(); }

}  // namespace xorder::kernel
