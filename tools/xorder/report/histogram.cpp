#include "report/histogram.hpp"

#include <algorithm>
#include <cmath>

namespace xorder::cli {

Histogram::Histogram(double least, double most, int classes_per_decade)
    : least_(least),
      per_decade_(classes_per_decade),
      counts_(static_cast<std::size_t>(std::ceil(std::log10(most / least) * classes_per_decade))),
      largest_of_class_(counts_.size()) {}

void Histogram::add(double value) {
  const double place = value > least_ ? std::log10(value / least_) * per_decade_ : 0;
  const std::size_t i = std::min(static_cast<std::size_t>(place), counts_.size() - 1);
  ++counts_[i];
  largest_of_class_[i] = std::max(largest_of_class_[i], value);
  ++count_;
  largest_ = std::max(largest_, value);
}

double Histogram::quantile(double part) const {
  const double wanted = part * static_cast<double>(count_);
  double below = 0;
  for (std::size_t i = 0; i < counts_.size(); ++i) {
    below += static_cast<double>(counts_[i]);
    if (counts_[i] > 0 && below >= wanted) return largest_of_class_[i];
  }
  return 0;
}

double Histogram::begin(std::size_t i) const {
  return least_ * std::pow(10, static_cast<double>(i) / per_decade_);
}

}  // namespace xorder::cli
