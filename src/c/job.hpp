// The job object of the C interface.
#pragma once

#include <memory>
#include <string>

#include "text/json_text.hpp"
#include "work/json.hpp"
#include "xorder.h"
#include "xorder/work/work.hpp"

struct xorder_job {
  explicit xorder_job(std::unique_ptr<xorder::work::Work> made)
      : job(std::move(made)),
        plan_text(job->describe()),
        plan_json(xorder::json_text(xorder::work::plan_json(job->summary()))),
        note(job->summary().note) {}

  std::unique_ptr<xorder::work::Work> job;
  std::string plan_text, plan_json, report_json;
  std::string note;
};
