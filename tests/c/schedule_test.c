// Schedules: their messages bring every word where the task says, and the checker agrees.
#include <stdlib.h>
#include <string.h>
#include <xorder.h>

#include "check.h"

static char garbage;

static void test_exchange(int bit_reversal) {
  enum { d = 3, nodes = 1 << d };
  unsigned place[nodes][nodes], next[nodes][nodes];  // by node and slot: the word there
  xorder_message* messages;
  xorder_schedule* schedule;
  const char* report;
  size_t count, most = nodes * d, i;
  unsigned step, a, b;
  OK(xorder_schedule_create(&schedule, bit_reversal ? XORDER_TASK_BIT_REVERSAL : XORDER_TASK_TRANSPOSITION,
                            XORDER_NETWORK_HYPERCUBE, d));
  CHECK(strstr(xorder_schedule_json(schedule), "\"steps\":4}") != NULL);
  CHECK(strstr(xorder_schedule_json(schedule), "\"lower_bound\":4,") != NULL);
  messages = calloc(most, sizeof *messages);
  for (a = 0; a < nodes; ++a)
    for (b = 0; b < nodes; ++b) place[a][b] = a * nodes + b;
  for (step = 0; step < 4; ++step) {
    OK(xorder_schedule_messages(schedule, step, NULL, 0, &count));
    CHECK(count == most);
    OK(xorder_schedule_messages(schedule, step, messages, most, &count));
    memcpy(next, place, sizeof place);
    for (i = 0; i < count; ++i) {
      CHECK(messages[i].links == 1 && messages[i].via == messages[i].to_node);
      next[messages[i].to_node][messages[i].to_slot] = place[messages[i].from_node][messages[i].from_slot];
    }
    memcpy(place, next, sizeof place);
  }
  for (a = 0; a < nodes; ++a)
    for (b = 0; b < nodes; ++b) {
      unsigned word = b * nodes + a, reversed = 0, k;
      for (k = 0; k < 2 * d; ++k) reversed |= (((a * nodes + b) >> k) & 1) << (2 * d - 1 - k);
      CHECK(place[a][b] == (bit_reversal ? reversed : word));
    }
  OK(xorder_schedule_check(schedule, &report));
  CHECK(strstr(report, "\"correct\":true") != NULL);
  FAILS(XORDER_ERROR_ARGUMENT, "step 4 of a schedule of 4 steps",
        xorder_schedule_messages(schedule, 4, messages, most, &count));
  FAILS(XORDER_ERROR_ARGUMENT, "messages is NULL", xorder_schedule_messages(schedule, 0, NULL, 1, &count));
  FAILS(XORDER_ERROR_ARGUMENT, "count is NULL", xorder_schedule_messages(schedule, 0, messages, 1, NULL));
  FAILS(XORDER_ERROR_ARGUMENT, "json is NULL", xorder_schedule_check(schedule, NULL));
  free(messages);
  xorder_schedule_free(schedule);
}

static void test_drawing(void) {
  char text[64], *whole;
  size_t length = 0, again = 0;
  xorder_schedule* schedule;
  OK(xorder_schedule_create(&schedule, XORDER_TASK_TRANSPOSITION, XORDER_NETWORK_MESH, 5));
  OK(xorder_schedule_svg(schedule, "five", NULL, 0, &length));
  whole = malloc(length + 1);
  OK(xorder_schedule_svg(schedule, "five", whole, length + 1, &again));
  CHECK(again == length && strlen(whole) == length && strstr(whole, ">five</text>") != NULL);
  CHECK(strcmp(whole + length - 7, "</svg>\n") == 0);
  OK(xorder_schedule_svg(schedule, "five", text, sizeof text, &again));  // as much as there is room for
  CHECK(again == length && strlen(text) == sizeof text - 1 && memcmp(text, whole, sizeof text - 1) == 0);
  FAILS(XORDER_ERROR_ARGUMENT, "text is NULL", xorder_schedule_svg(schedule, "five", NULL, 1, &length));
  FAILS(XORDER_ERROR_ARGUMENT, "length is NULL", xorder_schedule_svg(schedule, "five", text, 1, NULL));
  FAILS(XORDER_ERROR_ARGUMENT, "title is NULL", xorder_schedule_svg(schedule, NULL, text, 1, &length));
  FAILS(XORDER_ERROR_ARGUMENT, "schedule is NULL", xorder_schedule_svg(NULL, "", text, 1, &length));
  xorder_schedule_free(schedule);
  OK(xorder_schedule_create(&schedule, XORDER_TASK_TRANSPOSITION, XORDER_NETWORK_MESH, 41));
  FAILS(XORDER_ERROR_INPUT, "at most 40", xorder_schedule_svg(schedule, "", text, sizeof text, &length));
  xorder_schedule_free(schedule);
  free(whole);
}

static void test_others(void) {
  const uint64_t packets[] = {0, 0, 3, 0, 3, 0, 0, 0};
  const char* lines =
      "{\"step\": 0, \"from\": [0, 0], \"to\": [1, 0]}\n"
      "{\"step\": 0, \"from\": [0, 1], \"to\": [1, 1]}\n";
  uint64_t nodes[4];
  size_t count;
  xorder_schedule* schedule;
  const char* report;
  OK(xorder_schedule_create(&schedule, XORDER_TASK_TRANSPOSITION, XORDER_NETWORK_TORUS, 5));
  OK(xorder_schedule_check(schedule, &report));
  CHECK(strstr(report, "\"correct\":true") != NULL);
  xorder_schedule_free(schedule);
  OK(xorder_schedule_search(&schedule, 2, 1, packets, 2));
  CHECK(strstr(xorder_schedule_json(schedule), "\"steps\":2}") != NULL);
  OK(xorder_schedule_check(schedule, &report));
  CHECK(strstr(report, "\"correct\":true") != NULL);
  xorder_schedule_free(schedule);
  OK(xorder_schedule_read(&schedule, lines, "mine", XORDER_NETWORK_HYPERCUBE, 1, XORDER_TASK_NONE));
  OK(xorder_schedule_paths(schedule, 0, NULL, 0, &count));
  CHECK(count == 4);
  nodes[3] = 77;
  OK(xorder_schedule_paths(schedule, 0, nodes, 3, &count));
  CHECK(count == 4 && nodes[0] == 0 && nodes[1] == 1 && nodes[2] == 0 && nodes[3] == 77);
  FAILS(XORDER_ERROR_ARGUMENT, "step 1 of a schedule of 1 steps", xorder_schedule_paths(schedule, 1, nodes, 4, &count));
  FAILS(XORDER_ERROR_ARGUMENT, "nodes is NULL", xorder_schedule_paths(schedule, 0, NULL, 4, &count));
  FAILS(XORDER_ERROR_ARGUMENT, "count is NULL", xorder_schedule_paths(schedule, 0, nodes, 4, NULL));
  OK(xorder_schedule_check(schedule, &report));  // two on one link
  CHECK(strstr(report, "\"correct\":false") != NULL && strstr(report, "\"conflicts\":1,") != NULL);
  xorder_schedule_free(schedule);
  OK(xorder_schedule_read(&schedule, "", "none", XORDER_NETWORK_CROSSBAR, 1, XORDER_TASK_TRANSPOSITION));
  OK(xorder_schedule_check(schedule, &report));
  CHECK(strstr(report, "\"complete\":false") != NULL);
  xorder_schedule_free(schedule);

  schedule = (void*)&garbage;
  FAILS(XORDER_ERROR_INPUT, "others can be read",
        xorder_schedule_create(&schedule, XORDER_TASK_BIT_REVERSAL, XORDER_NETWORK_MESH, 4));
  CHECK(schedule == NULL);
  FAILS(XORDER_ERROR_INPUT, "the exponent must be from 0 to 20",
        xorder_schedule_create(&schedule, XORDER_TASK_TRANSPOSITION, XORDER_NETWORK_HYPERCUBE, UINT64_MAX));
  FAILS(XORDER_ERROR_ARGUMENT, "task is 0", xorder_schedule_create(&schedule, XORDER_TASK_NONE, 0, 3));
  FAILS(XORDER_ERROR_ARGUMENT, "network is 9", xorder_schedule_create(&schedule, 1, 9, 3));
  FAILS(XORDER_ERROR_ARGUMENT, "out is NULL", xorder_schedule_create(NULL, 1, 0, 3));
  FAILS(XORDER_ERROR_ARGUMENT, "packets is NULL", xorder_schedule_search(&schedule, 2, 1, NULL, 2));
  FAILS(XORDER_ERROR_INPUT, "", xorder_schedule_search(&schedule, 1, 1, packets, 2));
  FAILS(XORDER_ERROR_INPUT, "mine", xorder_schedule_read(&schedule, "7", "mine", 0, 1, 0));
  FAILS(XORDER_ERROR_ARGUMENT, "task is 7", xorder_schedule_read(&schedule, lines, "mine", 0, 1, 7));
  FAILS(XORDER_ERROR_ARGUMENT, "text is NULL", xorder_schedule_read(&schedule, NULL, "mine", 0, 1, 0));
  FAILS(XORDER_ERROR_ARGUMENT, "name is NULL", xorder_schedule_read(&schedule, lines, NULL, 0, 1, 0));
  FAILS(XORDER_ERROR_ARGUMENT, "schedule is NULL", xorder_schedule_check(NULL, &report));
  CHECK(strcmp(xorder_schedule_json(NULL), "") == 0);
  xorder_schedule_free(NULL);
}

void test_schedules(void) {
  test_exchange(0);
  test_exchange(1);
  test_drawing();
  test_others();
}
