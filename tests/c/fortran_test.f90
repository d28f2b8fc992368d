! include/xorder.f90: arrays in memory and in files, the friendly procedures and those of C. Leaves its folder empty.
module called_from_c
  use, intrinsic :: iso_c_binding
  use xorder
  implicit none
contains
  integer(c_int) function count_calls(progress, calls) bind(c)
    type(xorder_progress), intent(in) :: progress
    integer(c_int), intent(inout) :: calls
    if (progress%bytes_done <= progress%bytes_total .and. progress%passes > 0) calls = calls + 1
    count_calls = 0
  end function

  subroutine keep(b, first, count, x, plus, minus, out, user) bind(c)
    integer(c_int), value :: b
    integer(c_int64_t), value :: first, count
    integer(c_int), intent(in) :: x(count), plus(count), minus(count)
    integer(c_int), intent(out) :: out(count)
    type(c_ptr), value :: user
    if (b < 0 .or. first < 0 .or. c_associated(user)) error stop 'step'
    out = x + 0 * (plus + minus)
  end subroutine
end module

program fortran_test
  use, intrinsic :: iso_c_binding
  use xorder
  use called_from_c
  implicit none
  integer(c_int) :: failures = 0

  call test_memory
  call test_files
  call test_jobs
  call test_more
  if (failures /= 0) error stop 1

contains

  subroutine check(right, what)
    logical, intent(in) :: right
    character(len=*), intent(in) :: what
    if (right) return
    failures = failures + 1
    print '(a)', 'wrong: '//what//' (last error: '//xorder_last_error()//')'
  end subroutine

  subroutine done(status, what)
    integer(c_int), intent(in) :: status
    character(len=*), intent(in) :: what
    call check(status == XORDER_OK, what)
  end subroutine

  ! Sums are verified wrong, a file in place right; a schedule.
  subroutine test_more
    integer(c_int64_t), parameter :: n = 16
    type(xorder_difference) :: differences(1)
    type(xorder_message) :: messages(12)
    integer(c_int64_t) :: nodes(16)
    type(c_ptr) :: layout, sums, job, permutation, schedule
    character(len=:), allocatable :: report
    integer(c_size_t) :: count
    integer(c_int) :: made(n)
    character(len=40000) :: text
    integer :: unit, i
    open (newunit=unit, file='m.raw', access='stream', form='unformatted', status='replace')
    write (unit) [(int(i, c_int), i = 1, int(n))]
    close (unit)
    call done(xorder_layout_strided(layout, 'm.raw'//c_null_char, 0_c_int64_t, 'i4'//c_null_char, 1, [n]), 'layout')
    call done(xorder_job_scan(job, 'sum'//c_null_char, layout, 's.raw'//c_null_char), 'scan')
    call done(xorder_job_run(job), 'run of scan')
    call xorder_job_free(job)
    open (newunit=unit, file='s.raw', access='stream', form='unformatted', status='old')
    read (unit) made
    close (unit)
    call check(all(made == [(i * (i + 1) / 2, i = 1, int(n))]), 'sums')
    call done(xorder_layout_strided(sums, 's.raw'//c_null_char, 0_c_int64_t, 'i4'//c_null_char, 1, [n]), 'layout of sums')
    call done(xorder_permutation_axes(permutation, 1, [n], element_bytes=4_c_int64_t), 'permutation')
    count = 7
    call done(xorder_verify(permutation, layout, sums, progress=c_null_funptr, user=c_null_ptr, &
      differences=differences, room=1_c_size_t, count=count), 'verify')
    call check(count == 1 .and. differences(1)%end_byte == 64, 'the difference')
    call xorder_layout_free(sums)
    call xorder_permutation_free(permutation)
    call done(xorder_permutation_expression(permutation, 'reverse'//c_null_char, 4, 4_c_int64_t), 'reverse')
    call done(xorder_job_in_place(job, permutation, layout), 'in place')
    call done(xorder_job_run(job), 'run in place')
    call xorder_job_free(job)
    call check(xorder_job_resume(job, 'm.raw'//c_null_char) == XORDER_ERROR_INPUT, 'nothing to resume')
    open (newunit=unit, file='m.raw', access='stream', form='unformatted', status='old')
    read (unit) made
    close (unit, status='delete')
    call check(all(made == [(int(n) + 1 - i, i = 1, int(n))]), 'the other way round')
    call xorder_layout_free(layout)
    call xorder_permutation_free(permutation)
    open (newunit=unit, file='s.raw', status='old')
    close (unit, status='delete')

    call done(xorder_schedule_create(schedule, XORDER_TASK_TRANSPOSITION, XORDER_NETWORK_HYPERCUBE, 2_c_int64_t), &
      'schedule')
    call done(xorder_schedule_messages(schedule, 0_c_int64_t, messages, 12_c_size_t, count), 'messages')
    call check(count == 8 .and. all(messages(:8)%links == 1), 'each over one link')
    call done(xorder_schedule_paths(schedule, 0_c_int64_t, nodes, 16_c_size_t, count), 'paths')
    call check(count == 16 .and. all(nodes(1::2) == messages(:8)%from_node) .and. all(nodes(2::2) == messages(:8)%to_node), &
      'of two nodes each')
    call done(xorder_schedule_check(schedule, report), 'check')
    call check(index(report, '"correct":true') > 0, 'report')
    call check(index(xorder_schedule_json(schedule), '"steps":2') > 0, 'steps')
    call done(xorder_schedule_svg(schedule, 'two'//c_null_char, text, len(text, kind=c_size_t), count), 'drawing')
    call check(text(count-6:count-1) == '</svg>' .and. text(count+1:count+1) == c_null_char, 'its end')
    call xorder_schedule_free(schedule)
    call done(xorder_permutation_expression(permutation, 'gray'//c_null_char, 4, 4_c_int64_t), 'gray')
    call done(xorder_permutation_json(permutation, 4_c_int64_t, 0_c_int64_t, text, len(text, kind=c_size_t), count), 'json')
    call check(index(text(:count), '"rank_gamma":[0,0,0,0,0]') > 0, 'rank')
    call done(xorder_permutation_svg(permutation, 'x'//c_null_char, 0_c_int64_t, text, len(text, kind=c_size_t), count), 'svg')
    call xorder_permutation_free(permutation)
    call check(xorder_journal_json('m.raw'//c_null_char, text, len(text, kind=c_size_t), count) == XORDER_ERROR_INPUT, 'status')
    call check(xorder_journal_discard('m.raw'//c_null_char) == XORDER_ERROR_INPUT, 'nothing to discard')
    open (newunit=unit, file='c.raw', access='stream', form='unformatted', status='replace')
    write (unit) made
    close (unit)
    call done(xorder_checksum('c.raw'//c_null_char, progress=c_null_funptr, user=c_null_ptr, text=text, &
      room=len(text, kind=c_size_t), length=count), 'checksum')
    text(count+1:) = c_null_char
    count = 7
    call done(xorder_checksum_compare('c.raw'//c_null_char, text, 'kept'//c_null_char, progress=c_null_funptr, &
      user=c_null_ptr, room=0_c_size_t, count=count), 'compare')
    call check(count == 0, 'no decay')
    open (newunit=unit, file='c.raw', status='old')
    close (unit, status='delete')
  end subroutine

  subroutine test_memory
    integer, parameter :: m = 300, n = 200
    real(c_double), save :: a(m, n), b(n, m), framed(m + 2, n), whole(m, n), square(40, 40), copy(40, 40)
    complex :: c(3, 4, 5), d(4, 5, 3)
    integer :: i, j, k
    integer, parameter :: wrong(3, 3) = reshape([0, 2, 1, 4, 2, 1, 1, 2, 1], [3, 3])  ! 4 would be -1 in C
    type(c_ptr) :: plan, permutation, map, along

    call random_number(a)
    call done(xorder_plan_transpose(plan, shape(a), storage_size(a) / 8), 'plan')
    call done(xorder_plan_execute(plan, a, b, 0), 'execute')
    call check(all(b == transpose(a)), 'the matrix')
    call check(len(xorder_plan_text(plan)) > 0, 'the text of the plan')
    call check(xorder_plan_execute(plan, a, a, 0) == XORDER_ERROR_ARGUMENT, 'overlapping arrays')
    call check(xorder_last_error() == 'source and target overlap', 'the message')
    call check(xorder_last_errno() == 0, 'no errno')
    call check(xorder_last_error_path() == '', 'no path')
    call xorder_plan_free(plan)

    c = reshape([(cmplx(i, -i), i = 1, size(c))], shape(c))
    call done(xorder_plan_transpose(plan, shape(c, kind=c_int64_t), storage_size(c) / 8, [2, 3, 1]), 'a plan of axes')
    call done(xorder_plan_execute(plan, c, d, 1), 'execute')
    call check(all([(((d(j, k, i) == c(i, j, k), i = 1, 3), j = 1, 4), k = 1, 5)]), 'axes')
    call xorder_plan_free(plan)
    do i = 1, 3
      call check(xorder_plan_transpose(plan, shape(c), 8, wrong(:, i)) == XORDER_ERROR_INPUT, 'no permutation')
      call check(.not. c_associated(plan), 'no plan')
    end do
    call check(xorder_plan_transpose(plan, shape(c), 8, [2, 1]) == XORDER_ERROR_INPUT, 'too few axes')

    call random_number(square)
    copy = square
    call done(xorder_plan_transpose(plan, shape(square), 8), 'plan')
    call done(xorder_plan_execute_in_place(plan, square, 0), 'in place')
    call check(all(square == transpose(copy)), 'the square')
    call xorder_plan_free(plan)

    ! In C's order: the array of shape (n, m) is copied out of rows of m + 2 elements.
    call random_number(framed)
    call done(xorder_permutation_axes(permutation, 2, [int(n, c_int64_t), int(m, c_int64_t)], [0, 1], 8_c_int64_t), &
      'permutation')
    call check(xorder_permutation_bytes(permutation) == 8 * m * n, 'bytes')
    call done(xorder_plan_create_strided(plan, permutation, source_strides=[8_c_int64_t * (m + 2), 8_c_int64_t]), 'strides')
    call done(xorder_plan_execute(plan, framed, whole, 0), 'execute')
    call check(all(whole == framed(1:m, :)), 'without the frame')
    call xorder_plan_free(plan)
    call xorder_permutation_free(permutation)

    call done(xorder_permutation_bmmc(map, 3, [4_c_int64_t, 2_c_int64_t, 1_c_int64_t], 0_c_int64_t, 8_c_int64_t), 'a matrix')
    call check(xorder_permutation_target(map, 3_c_int64_t) == 6, 'its target')
    call done(xorder_permutation_along_axis(along, map, 2, [5_c_int64_t, 8_c_int64_t], -1), 'along an axis')
    call check(xorder_permutation_target(along, 8_c_int64_t + 3) == 8 + 6, 'its target')
    call done(xorder_plan_create(plan, along), 'plan')
    call xorder_plan_free(plan)
    call xorder_permutation_free(along)
    call xorder_permutation_free(map)
    call check(index(xorder_version_string(), '.') > 0, 'the version')
    call check(xorder_version() > 0, 'the version')
    call check(xorder_status_text(XORDER_ERROR_INPUT) == 'bad input', 'a status')
  end subroutine

  subroutine test_files
    real(c_double) :: a(3, 4, 5), b(5, 3, 4), c(5, 4, 3)
    integer :: unit, i, j, k
    integer(c_int) :: rank, npy
    integer(c_int64_t) :: extents(XORDER_MAX_RANK), element_bytes
    type(c_ptr) :: layout, permutation, job
    type(xorder_options) :: options

    call check(c_sizeof(options) == options%size, 'the size of options')
    call random_number(a)
    open (newunit=unit, file='a.raw', access='stream', form='unformatted', status='new')
    write (unit) 7, a
    close (unit)
    call done(xorder_layout_strided(layout, 'a.raw'//c_null_char, 4_c_int64_t, 'f8'//c_null_char, 3, &
      int([5, 4, 3], c_int64_t)), 'layout')
    call check(xorder_layout_path(layout) == 'a.raw', 'its texts')
    call check(index(xorder_layout_json(layout), 'f8') > 0, 'its texts')
    call done(xorder_permutation_axes(permutation, 3, int([5, 4, 3], c_int64_t), [0, 1, 2], 8_c_int64_t), 'permutation')
    options%threads = 1
    call done(xorder_job_layout(job, permutation, layout, 'a.npy'//c_null_char, options), 'job')
    call done(xorder_job_run(job), 'run')
    call xorder_job_free(job)
    call done(xorder_job_npy(job, permutation, 'a.npy'//c_null_char, 'copy.npy'//c_null_char), 'a job without options')
    call xorder_job_free(job)
    call check(xorder_job_into(job, permutation, layout, 'copy.npy'//c_null_char, 0_c_int64_t) == XORDER_ERROR_INPUT, 'a part')
    call xorder_permutation_free(permutation)
    call xorder_layout_free(layout)

    call done(xorder_npy_shape('a.npy'//c_null_char, rank, extents), 'shape')
    call check(rank == 3 .and. all(extents(1:3) == [5, 4, 3]), 'the shape in C''s order')
    call done(xorder_npy_shape('a.npy'//c_null_char, element_bytes=element_bytes), 'the size of an element')
    call check(element_bytes == 8, 'of 8 bytes')
    call done(xorder_output_format('a.npy'//c_null_char, npy), 'format')
    call check(npy == 1, 'of .npy')
    call done(xorder_layout_open(layout, 'a.npy'//c_null_char), 'open')
    call xorder_layout_free(layout)

    call done(xorder_transpose_file('a.npy', 'b.raw   ', [3, 1, 2]), 'axes of a file')
    call read_raw('b.raw', b)
    call check(all([(((b(k, i, j) == a(i, j, k), i = 1, 3), j = 1, 4), k = 1, 5)]), 'its content')
    call check(xorder_transpose_file('a.npy', 'b.raw') == XORDER_ERROR_INPUT, 'an output that exists')
    call check(xorder_last_errno() /= 0, 'its errno')
    options%overwrite = 1
    call done(xorder_transpose_file('a.npy', 'b.raw', options=options), 'reversed axes')
    call read_raw('b.raw', c)
    call check(all([(((c(k, j, i) == a(i, j, k), i = 1, 3), j = 1, 4), k = 1, 5)]), 'its content')
    call check(xorder_transpose_file('a.npy', 'c.raw', [4, 2, 1]) == XORDER_ERROR_INPUT, 'no such axis')
    call remove('a.raw')
    call remove('a.npy')
    call remove('b.raw')
  end subroutine

  subroutine test_jobs
    integer(c_int), target :: x(256), y(0:255), calls
    integer :: unit, i
    type(c_ptr) :: permutation, job

    x = [(i * i, i = 1, 256)]
    calls = 0
    open (newunit=unit, file='in.raw', access='stream', form='unformatted', status='new')
    write (unit) x
    close (unit)
    call done(xorder_permutation_expression(permutation, 'bitreverse'//c_null_char, 8, 4_c_int64_t), 'expression')
    call done(xorder_job_raw(job, permutation, 'in.raw'//c_null_char, 0_c_int64_t, 'out.npy'//c_null_char, 0_c_int64_t), 'job')
    call check(len(xorder_job_plan_text(job)) > 0, 'the texts of the plan')
    call check(index(xorder_job_plan_json(job), '{') == 1, 'the texts of the plan')
    call done(xorder_job_run(job, c_funloc(count_calls), c_loc(calls)), 'run')
    call check(calls > 0, 'progress')
    call check(index(xorder_job_report_json(job), '{') == 1, 'the report')
    call check(len(xorder_job_note(job)) >= 0, 'the report')
    call xorder_job_free(job)
    call xorder_permutation_free(permutation)

    ! The same after a computation that changes nothing.
    call done(xorder_job_descend(job, 0, c_funloc(keep), c_null_ptr, 'out.npy'//c_null_char, 'out.raw'//c_null_char), 'descend')
    call done(xorder_job_run(job), 'run')
    call xorder_job_free(job)
    open (newunit=unit, file='out.raw', access='stream', form='unformatted', status='old')
    read (unit) y
    close (unit, status='delete')
    call check(all([(y(reversed(i)) == x(i + 1), i = 0, 255)]), 'bit reversal')
    call remove('in.raw')
    call remove('out.npy')
  end subroutine

  integer function reversed(i)
    integer, intent(in) :: i
    integer :: bit
    reversed = 0
    do bit = 0, 7
      if (btest(i, bit)) reversed = ibset(reversed, 7 - bit)
    end do
  end function

  subroutine read_raw(path, array)
    character(len=*), intent(in) :: path
    real(c_double), intent(out) :: array(:, :, :)
    integer :: unit
    open (newunit=unit, file=path, access='stream', form='unformatted', status='old')
    read (unit) array
    close (unit)
  end subroutine

  subroutine remove(path)
    character(len=*), intent(in) :: path
    integer :: unit
    open (newunit=unit, file=path, status='old')
    close (unit, status='delete')
  end subroutine
end program
