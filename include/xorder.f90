! The C interface of xorder for Fortran 2018: see xorder.h for what functions do, require and return.
!
!   use xorder
!   if (xorder_transpose_file('a.npy', 'b.npy') /= XORDER_OK) print *, xorder_last_error()
!
! Compile this file with the program: each compiler has its own .mod files.
!
! Fortran's first index is the fastest, and the last one that of C and NumPy. So a Fortran array a(300, 200)
! lies in memory, or in a file, as an array of shape (200, 300) does in C order. xorder_transpose_file() and
! xorder_plan_transpose() have shapes and axes in Fortran's order, counted from 1. All other functions have
! them in C's order, counted from 0.
!
! Functions have their names and arguments of C, but:
! - Objects are type(c_ptr). Numbers that are unsigned in C are integer(c_int64_t).
! - Axes, strides and options, and results that are not needed, may be left out where C takes NULL.
! - A text that a function stores goes into a character variable, of which `room` is the length, with a
!   c_null_char behind.
! - Functions that return a text return a character string. Texts that are passed end with c_null_char, as in
!   'a.npy'//c_null_char. xorder_transpose_file() takes them without it, and ignores blanks at their ends.
module xorder
  use, intrinsic :: iso_c_binding
  implicit none
  private
  public :: xorder_options, xorder_progress, xorder_version, xorder_last_errno
  public :: xorder_permutation_axes, xorder_permutation_bmmc, xorder_permutation_expression
  public :: xorder_permutation_along_axis, xorder_permutation_bytes, xorder_permutation_target
  public :: xorder_permutation_free
  public :: xorder_plan_create, xorder_plan_create_strided, xorder_plan_execute, xorder_plan_execute_in_place
  public :: xorder_plan_free
  public :: xorder_layout_open, xorder_layout_strided, xorder_layout_free
  public :: xorder_npy_shape, xorder_output_format
  public :: xorder_job_raw, xorder_job_npy, xorder_job_layout, xorder_job_into
  public :: xorder_job_descend, xorder_job_run, xorder_job_free
  public :: xorder_job_layout_raw, xorder_job_joined, xorder_job_in_place, xorder_job_resume
  public :: xorder_job_roll_back, xorder_job_compute, xorder_job_scan, xorder_job_shift, xorder_job_merge
  public :: xorder_job_tridiagonal, xorder_verify, xorder_difference
  public :: xorder_schedule_create, xorder_schedule_search, xorder_schedule_read, xorder_schedule_json
  public :: xorder_schedule_messages, xorder_schedule_paths, xorder_schedule_check, xorder_schedule_free
  public :: xorder_message
  public :: xorder_version_string, xorder_status_text, xorder_last_error, xorder_last_error_path
  public :: xorder_plan_text, xorder_layout_json
  public :: xorder_layout_path, xorder_job_plan_text, xorder_job_plan_json, xorder_job_report_json
  public :: xorder_job_note
  public :: xorder_permutation_json, xorder_permutation_svg, xorder_schedule_svg
  public :: xorder_journal_json, xorder_journal_discard, xorder_checksum, xorder_checksum_compare
  public :: xorder_transpose_file, xorder_plan_transpose

  integer(c_int), parameter, public :: XORDER_OK = 0, XORDER_ERROR_ARGUMENT = -1, XORDER_ERROR_INPUT = -2, &
    XORDER_ERROR_IO = -3, XORDER_ERROR_CANCELLED = -4, XORDER_ERROR_MEMORY = -5, XORDER_ERROR_INTERNAL = -6
  integer(c_int), parameter, public :: XORDER_ACCESS_AUTO = 0, XORDER_ACCESS_DIRECT = 1, &
    XORDER_ACCESS_MAPPED = 2
  integer, parameter, public :: XORDER_MAX_RANK = 64
  integer(c_int), parameter, public :: XORDER_NETWORK_HYPERCUBE = 0, XORDER_NETWORK_MESH = 1, &
    XORDER_NETWORK_TORUS = 2, XORDER_NETWORK_CROSSBAR = 3
  integer(c_int), parameter, public :: XORDER_TASK_NONE = 0, XORDER_TASK_TRANSPOSITION = 1, &
    XORDER_TASK_BIT_REVERSAL = 2

  ! The defaults of all members are set. Texts are c_loc() of a target that ends with c_null_char.
  type, bind(c) :: xorder_options
    integer(c_size_t) :: size = 56
    integer(c_int64_t) :: memory = 0
    integer(c_int) :: threads = 0
    integer(c_int) :: access = XORDER_ACCESS_AUTO
    integer(c_int) :: overwrite = 0
    integer(c_int) :: reserved = 0
    type(c_ptr) :: scratch_directory = c_null_ptr
    type(c_ptr) :: device = c_null_ptr
    integer(c_int) :: resumable = 0
  end type

  type, bind(c) :: xorder_difference
    integer(c_int64_t) :: first_byte, end_byte, first_element, end_element
  end type

  type, bind(c) :: xorder_message
    integer(c_int64_t) :: from_node, from_slot, to_node, to_slot, via, links
  end type

  type, bind(c) :: xorder_progress
    integer(c_int64_t) :: bytes_done, bytes_total
    integer(c_int) :: pass, passes
  end type

  ! A plan for arrays in memory, in Fortran's order: axis i of the target is axis axes(i) of the source, whose
  ! shape is `shape`. Without axes, they are reversed. An element has storage_size(a) / 8 bytes.
  !
  !   status = xorder_plan_transpose(plan, shape(a), storage_size(a) / 8)
  !   status = xorder_plan_execute(plan, a, b, 0)
  interface xorder_plan_transpose
    procedure plan_transpose, plan_transpose_long
  end interface

  ! As in C, with c_funloc() of a function that is told of the progress and c_loc() of its data; or without.
  interface xorder_job_run
    procedure job_run, c_job_run
  end interface

  interface
    integer(c_int) function xorder_version() bind(c)
      import c_int
    end function
    integer(c_int) function xorder_last_errno() bind(c)
      import c_int
    end function

    integer(c_int) function xorder_permutation_axes(out, rank, shape, axes, element_bytes) bind(c)
      import c_int, c_int64_t, c_ptr
      type(c_ptr), intent(out) :: out
      integer(c_int), value :: rank
      integer(c_int64_t), intent(in) :: shape(*)
      integer(c_int), intent(in), optional :: axes(*)
      integer(c_int64_t), value :: element_bytes
    end function
    integer(c_int) function xorder_permutation_bmmc(out, n, columns, complement, element_bytes) bind(c)
      import c_int, c_int64_t, c_ptr
      type(c_ptr), intent(out) :: out
      integer(c_int), value :: n
      integer(c_int64_t), intent(in) :: columns(*)
      integer(c_int64_t), value :: complement, element_bytes
    end function
    integer(c_int) function xorder_permutation_expression(out, text, n, element_bytes) bind(c)
      import c_int, c_int64_t, c_ptr, c_char
      type(c_ptr), intent(out) :: out
      character(kind=c_char), intent(in) :: text(*)
      integer(c_int), value :: n
      integer(c_int64_t), value :: element_bytes
    end function
    integer(c_int) function xorder_permutation_along_axis(out, map, rank, shape, axis) bind(c)
      import c_int, c_int64_t, c_ptr
      type(c_ptr), intent(out) :: out
      type(c_ptr), value :: map
      integer(c_int), value :: rank, axis
      integer(c_int64_t), intent(in) :: shape(*)
    end function
    integer(c_int64_t) function xorder_permutation_bytes(permutation) bind(c)
      import c_int64_t, c_ptr
      type(c_ptr), value :: permutation
    end function
    integer(c_int64_t) function xorder_permutation_target(permutation, source) bind(c)
      import c_int64_t, c_ptr
      type(c_ptr), value :: permutation
      integer(c_int64_t), value :: source
    end function
    integer(c_int) function xorder_permutation_json(permutation, block, memory, text, room, length) bind(c)
      import c_int, c_size_t, c_char, c_ptr, c_int64_t
      type(c_ptr), value :: permutation
      integer(c_int64_t), value :: block, memory
      character(kind=c_char), intent(inout) :: text(*)
      integer(c_size_t), value :: room
      integer(c_size_t), intent(inout) :: length
    end function
    integer(c_int) function xorder_permutation_svg(permutation, title, block, text, room, length) bind(c)
      import c_int, c_size_t, c_char, c_ptr, c_int64_t
      type(c_ptr), value :: permutation
      character(kind=c_char), intent(in) :: title(*)
      integer(c_int64_t), value :: block
      character(kind=c_char), intent(inout) :: text(*)
      integer(c_size_t), value :: room
      integer(c_size_t), intent(inout) :: length
    end function
    subroutine xorder_permutation_free(permutation) bind(c)
      import c_ptr
      type(c_ptr), value :: permutation
    end subroutine

    integer(c_int) function xorder_plan_create(out, permutation) bind(c)
      import c_int, c_ptr
      type(c_ptr), intent(out) :: out
      type(c_ptr), value :: permutation
    end function
    integer(c_int) function xorder_plan_create_strided(out, permutation, source_strides, target_strides) &
      bind(c)
      import c_int, c_int64_t, c_ptr
      type(c_ptr), intent(out) :: out
      type(c_ptr), value :: permutation
      integer(c_int64_t), intent(in), optional :: source_strides(*), target_strides(*)
    end function
    ! Arrays of any type and rank. Pass whole ones: of a section with gaps the compiler makes a copy.
    integer(c_int) function xorder_plan_execute(plan, source, target, threads) bind(c)
      import c_int, c_ptr
      type(c_ptr), value :: plan
      type(*), intent(in) :: source(*)
      type(*), intent(inout) :: target(*)
      integer(c_int), value :: threads
    end function
    integer(c_int) function xorder_plan_execute_in_place(plan, array, threads) bind(c)
      import c_int, c_ptr
      type(c_ptr), value :: plan
      type(*), intent(inout) :: array(*)
      integer(c_int), value :: threads
    end function
    subroutine xorder_plan_free(plan) bind(c)
      import c_ptr
      type(c_ptr), value :: plan
    end subroutine

    integer(c_int) function xorder_layout_open(out, path) bind(c)
      import c_int, c_ptr, c_char
      type(c_ptr), intent(out) :: out
      character(kind=c_char), intent(in) :: path(*)
    end function
    integer(c_int) function xorder_layout_strided(out, path, offset, dtype, rank, shape, strides) bind(c)
      import c_int, c_int64_t, c_ptr, c_char
      type(c_ptr), intent(out) :: out
      character(kind=c_char), intent(in) :: path(*), dtype(*)
      integer(c_int64_t), value :: offset
      integer(c_int), value :: rank
      integer(c_int64_t), intent(in) :: shape(*)
      integer(c_int64_t), intent(in), optional :: strides(*)
    end function
    subroutine xorder_layout_free(layout) bind(c)
      import c_ptr
      type(c_ptr), value :: layout
    end subroutine

    ! Requires room for XORDER_MAX_RANK extents, which are in C's order.
    integer(c_int) function xorder_npy_shape(path, rank, shape, element_bytes) bind(c)
      import c_int, c_int64_t, c_char
      character(kind=c_char), intent(in) :: path(*)
      integer(c_int), intent(inout), optional :: rank
      integer(c_int64_t), intent(inout), optional :: shape(*), element_bytes
    end function
    integer(c_int) function xorder_output_format(path, npy) bind(c)
      import c_int, c_char
      character(kind=c_char), intent(in) :: path(*)
      integer(c_int), intent(inout) :: npy
    end function

    integer(c_int) function xorder_job_raw(out, permutation, input, input_offset, output, output_offset, &
      options) bind(c)
      import c_int, c_int64_t, c_ptr, c_char, xorder_options
      type(c_ptr), intent(out) :: out
      type(c_ptr), value :: permutation
      character(kind=c_char), intent(in) :: input(*), output(*)
      integer(c_int64_t), value :: input_offset, output_offset
      type(xorder_options), intent(in), optional :: options
    end function
    integer(c_int) function xorder_job_npy(out, permutation, input, output, options) bind(c)
      import c_int, c_ptr, c_char, xorder_options
      type(c_ptr), intent(out) :: out
      type(c_ptr), value :: permutation
      character(kind=c_char), intent(in) :: input(*), output(*)
      type(xorder_options), intent(in), optional :: options
    end function
    integer(c_int) function xorder_job_layout(out, permutation, input, output, options) bind(c)
      import c_int, c_ptr, c_char, xorder_options
      type(c_ptr), intent(out) :: out
      type(c_ptr), value :: permutation, input
      character(kind=c_char), intent(in) :: output(*)
      type(xorder_options), intent(in), optional :: options
    end function
    integer(c_int) function xorder_job_into(out, permutation, input, output, output_offset, options) bind(c)
      import c_int, c_int64_t, c_ptr, c_char, xorder_options
      type(c_ptr), intent(out) :: out
      type(c_ptr), value :: permutation, input
      character(kind=c_char), intent(in) :: output(*)
      integer(c_int64_t), value :: output_offset
      type(xorder_options), intent(in), optional :: options
    end function
    integer(c_int) function xorder_job_descend(out, ascends, step, user, input, output, options) bind(c)
      import c_int, c_ptr, c_funptr, c_char, xorder_options
      type(c_ptr), intent(out) :: out
      integer(c_int), value :: ascends
      type(c_funptr), value :: step
      type(c_ptr), value :: user
      character(kind=c_char), intent(in) :: input(*), output(*)
      type(xorder_options), intent(in), optional :: options
    end function
    integer(c_int) function xorder_job_layout_raw(out, permutation, input, output, output_offset, fortran, &
      options) bind(c)
      import c_int, c_int64_t, c_ptr, c_char, xorder_options
      type(c_ptr), intent(out) :: out
      type(c_ptr), value :: permutation, input
      character(kind=c_char), intent(in) :: output(*)
      integer(c_int64_t), value :: output_offset
      integer(c_int), value :: fortran
      type(xorder_options), intent(in), optional :: options
    end function
    integer(c_int) function xorder_job_joined(out, permutation, stacked, axis, inputs, count, output, &
      options) bind(c)
      import c_int, c_size_t, c_ptr, c_char, xorder_options
      type(c_ptr), intent(out) :: out
      type(c_ptr), value :: permutation
      integer(c_int), value :: stacked, axis
      type(c_ptr), intent(in) :: inputs(*)
      integer(c_size_t), value :: count
      character(kind=c_char), intent(in) :: output(*)
      type(xorder_options), intent(in), optional :: options
    end function
    integer(c_int) function xorder_job_in_place(out, permutation, file, options) bind(c)
      import c_int, c_ptr, xorder_options
      type(c_ptr), intent(out) :: out
      type(c_ptr), value :: permutation, file
      type(xorder_options), intent(in), optional :: options
    end function
    integer(c_int) function xorder_job_resume(out, path) bind(c)
      import c_int, c_ptr, c_char
      type(c_ptr), intent(out) :: out
      character(kind=c_char), intent(in) :: path(*)
    end function
    integer(c_int) function xorder_job_roll_back(out, path) bind(c)
      import c_int, c_ptr, c_char
      type(c_ptr), intent(out) :: out
      character(kind=c_char), intent(in) :: path(*)
    end function
    integer(c_int) function xorder_job_compute(out, ascends, step, user, input, output, options) bind(c)
      import c_int, c_ptr, c_funptr, c_char, xorder_options
      type(c_ptr), intent(out) :: out
      integer(c_int), value :: ascends
      type(c_funptr), value :: step
      type(c_ptr), value :: user, input
      character(kind=c_char), intent(in) :: output(*)
      type(xorder_options), intent(in), optional :: options
    end function
    integer(c_int) function xorder_job_scan(out, operation, input, output, options) bind(c)
      import c_int, c_ptr, c_char, xorder_options
      type(c_ptr), intent(out) :: out
      character(kind=c_char), intent(in) :: operation(*), output(*)
      type(c_ptr), value :: input
      type(xorder_options), intent(in), optional :: options
    end function
    integer(c_int) function xorder_job_shift(out, distance, input, output, options) bind(c)
      import c_int, c_int64_t, c_ptr, c_char, xorder_options
      type(c_ptr), intent(out) :: out
      integer(c_int64_t), value :: distance
      type(c_ptr), value :: input
      character(kind=c_char), intent(in) :: output(*)
      type(xorder_options), intent(in), optional :: options
    end function
    integer(c_int) function xorder_job_merge(out, input, output, options) bind(c)
      import c_int, c_ptr, c_char, xorder_options
      type(c_ptr), intent(out) :: out
      type(c_ptr), value :: input
      character(kind=c_char), intent(in) :: output(*)
      type(xorder_options), intent(in), optional :: options
    end function
    integer(c_int) function xorder_job_tridiagonal(out, inputs, output, options) bind(c)
      import c_int, c_ptr, c_char, xorder_options
      type(c_ptr), intent(out) :: out
      type(c_ptr), intent(in) :: inputs(4)
      character(kind=c_char), intent(in) :: output(*)
      type(xorder_options), intent(in), optional :: options
    end function
    integer(c_int) function xorder_verify(permutation, source, result, options, progress, user, differences, &
      room, count) bind(c)
      import c_int, c_size_t, c_ptr, c_funptr, xorder_options, xorder_difference
      type(c_ptr), value :: permutation, source, result, user
      type(xorder_options), intent(in), optional :: options
      type(c_funptr), value :: progress
      type(xorder_difference), intent(inout), optional :: differences(*)
      integer(c_size_t), value :: room
      integer(c_size_t), intent(inout) :: count
    end function

    integer(c_int) function xorder_journal_json(path, text, room, length) bind(c)
      import c_int, c_size_t, c_char
      character(kind=c_char), intent(in) :: path(*)
      character(kind=c_char), intent(inout) :: text(*)
      integer(c_size_t), value :: room
      integer(c_size_t), intent(inout) :: length
    end function
    integer(c_int) function xorder_journal_discard(path) bind(c)
      import c_int, c_char
      character(kind=c_char), intent(in) :: path(*)
    end function
    integer(c_int) function xorder_checksum(path, options, progress, user, text, room, length) bind(c)
      import c_int, c_size_t, c_char, c_ptr, c_funptr, xorder_options
      character(kind=c_char), intent(in) :: path(*)
      type(xorder_options), intent(in), optional :: options
      type(c_funptr), value :: progress
      type(c_ptr), value :: user
      character(kind=c_char), intent(inout) :: text(*)
      integer(c_size_t), value :: room
      integer(c_size_t), intent(inout) :: length
    end function
    integer(c_int) function xorder_checksum_compare(path, checksum, name, options, progress, user, &
      differences, room, count) bind(c)
      import c_int, c_size_t, c_char, c_ptr, c_funptr, xorder_options, xorder_difference
      character(kind=c_char), intent(in) :: path(*), checksum(*), name(*)
      type(xorder_options), intent(in), optional :: options
      type(c_funptr), value :: progress
      type(c_ptr), value :: user
      type(xorder_difference), intent(inout), optional :: differences(*)
      integer(c_size_t), value :: room
      integer(c_size_t), intent(inout) :: count
    end function

    integer(c_int) function xorder_schedule_create(out, task, network, size) bind(c)
      import c_int, c_int64_t, c_ptr
      type(c_ptr), intent(out) :: out
      integer(c_int), value :: task, network
      integer(c_int64_t), value :: size
    end function
    integer(c_int) function xorder_schedule_search(out, dimension, slots, packets, count) bind(c)
      import c_int, c_int64_t, c_size_t, c_ptr
      type(c_ptr), intent(out) :: out
      integer(c_int), value :: dimension
      integer(c_int64_t), value :: slots
      integer(c_int64_t), intent(in) :: packets(4, *)
      integer(c_size_t), value :: count
    end function
    integer(c_int) function xorder_schedule_read(out, text, name, network, size, task) bind(c)
      import c_int, c_int64_t, c_ptr, c_char
      type(c_ptr), intent(out) :: out
      character(kind=c_char), intent(in) :: text(*), name(*)
      integer(c_int), value :: network, task
      integer(c_int64_t), value :: size
    end function
    integer(c_int) function xorder_schedule_messages(schedule, step, messages, room, count) bind(c)
      import c_int, c_int64_t, c_size_t, c_ptr, xorder_message
      type(c_ptr), value :: schedule
      integer(c_int64_t), value :: step
      type(xorder_message), intent(inout), optional :: messages(*)
      integer(c_size_t), value :: room
      integer(c_size_t), intent(inout) :: count
    end function
    integer(c_int) function xorder_schedule_paths(schedule, step, nodes, room, count) bind(c)
      import c_int, c_int64_t, c_size_t, c_ptr
      type(c_ptr), value :: schedule
      integer(c_int64_t), value :: step
      integer(c_int64_t), intent(inout), optional :: nodes(*)
      integer(c_size_t), value :: room
      integer(c_size_t), intent(inout) :: count
    end function
    integer(c_int) function c_schedule_check(schedule, json) bind(c, name='xorder_schedule_check')
      import c_int, c_ptr
      type(c_ptr), value :: schedule
      type(c_ptr), intent(inout) :: json
    end function
    type(c_ptr) function c_schedule_json(schedule) bind(c, name='xorder_schedule_json')
      import c_ptr
      type(c_ptr), value :: schedule
    end function
    integer(c_int) function xorder_schedule_svg(schedule, title, text, room, length) bind(c)
      import c_int, c_size_t, c_char, c_ptr
      type(c_ptr), value :: schedule
      character(kind=c_char), intent(in) :: title(*)
      character(kind=c_char), intent(inout) :: text(*)
      integer(c_size_t), value :: room
      integer(c_size_t), intent(inout) :: length
    end function
    subroutine xorder_schedule_free(schedule) bind(c)
      import c_ptr
      type(c_ptr), value :: schedule
    end subroutine

    integer(c_int) function c_job_run(job, progress, user) bind(c, name='xorder_job_run')
      import c_int, c_ptr, c_funptr
      type(c_ptr), value :: job, user
      type(c_funptr), value :: progress
    end function
    subroutine xorder_job_free(job) bind(c)
      import c_ptr
      type(c_ptr), value :: job
    end subroutine

    integer(c_int) function c_transpose_file(input, output, rank, axes, options) &
      bind(c, name='xorder_transpose_file')
      import c_int, c_char, xorder_options
      character(kind=c_char), intent(in) :: input(*), output(*)
      integer(c_int), value :: rank
      integer(c_int), intent(in), optional :: axes(*)
      type(xorder_options), intent(in), optional :: options
    end function

    type(c_ptr) function c_version_string() bind(c, name='xorder_version_string')
      import c_ptr
    end function
    type(c_ptr) function c_status_text(status) bind(c, name='xorder_status_text')
      import c_int, c_ptr
      integer(c_int), value :: status
    end function
    type(c_ptr) function c_last_error() bind(c, name='xorder_last_error')
      import c_ptr
    end function
    type(c_ptr) function c_last_error_path() bind(c, name='xorder_last_error_path')
      import c_ptr
    end function
    type(c_ptr) function c_plan_text(plan) bind(c, name='xorder_plan_text')
      import c_ptr
      type(c_ptr), value :: plan
    end function
    type(c_ptr) function c_layout_json(layout) bind(c, name='xorder_layout_json')
      import c_ptr
      type(c_ptr), value :: layout
    end function
    type(c_ptr) function c_layout_path(layout) bind(c, name='xorder_layout_path')
      import c_ptr
      type(c_ptr), value :: layout
    end function
    type(c_ptr) function c_job_plan_text(job) bind(c, name='xorder_job_plan_text')
      import c_ptr
      type(c_ptr), value :: job
    end function
    type(c_ptr) function c_job_plan_json(job) bind(c, name='xorder_job_plan_json')
      import c_ptr
      type(c_ptr), value :: job
    end function
    type(c_ptr) function c_job_report_json(job) bind(c, name='xorder_job_report_json')
      import c_ptr
      type(c_ptr), value :: job
    end function
    type(c_ptr) function c_job_note(job) bind(c, name='xorder_job_note')
      import c_ptr
      type(c_ptr), value :: job
    end function

    integer(c_size_t) function strlen(text) bind(c)
      import c_size_t, c_ptr
      type(c_ptr), value :: text
    end function
  end interface

contains

  ! Transposes the array of a file that says what it holds into a new file, in Fortran's order: axis i of the
  ! output is axis axes(i) of the input. Without axes, they are reversed. The input's axis 1 is the last one
  ! of the shape that NumPy shows.
  integer(c_int) function xorder_transpose_file(input, output, axes, options) result(status)
    character(len=*), intent(in) :: input, output
    integer, intent(in), optional :: axes(:)
    type(xorder_options), intent(in), optional :: options
    integer :: none(0)
    if (present(axes)) then
      status = transpose_in_c(in_c(axes))
    else
      status = transpose_in_c(in_c(none))
    end if
  contains
    integer(c_int) function transpose_in_c(order)
      integer(c_int), intent(in) :: order(:)
      transpose_in_c = c_transpose_file(trim(input)//c_null_char, trim(output)//c_null_char, &
        size(order, kind=c_int), order, options)
    end function
  end function

  integer(c_int) function plan_transpose_long(plan, shape, element_bytes, axes) result(status)
    type(c_ptr), intent(out) :: plan
    integer(c_int64_t), intent(in) :: shape(:)
    integer, intent(in) :: element_bytes
    integer, intent(in), optional :: axes(:)
    type(c_ptr) :: permutation
    integer :: i, all(size(shape))
    all = [(size(shape) + 1 - i, i = 1, size(shape))]
    plan = c_null_ptr
    if (present(axes)) then
      if (size(axes) == size(all)) all = axes
      if (size(axes) /= size(all)) all = 0  ! which C refuses, too
    end if
    status = xorder_permutation_axes(permutation, size(shape, kind=c_int), shape(size(shape):1:-1), &
      in_c(all), int(element_bytes, c_int64_t))
    if (status == XORDER_OK) status = xorder_plan_create(plan, permutation)
    call xorder_permutation_free(permutation)
  end function

  integer(c_int) function plan_transpose(plan, shape, element_bytes, axes) result(status)
    type(c_ptr), intent(out) :: plan
    integer(c_int32_t), intent(in) :: shape(:)
    integer, intent(in) :: element_bytes
    integer, intent(in), optional :: axes(:)
    status = plan_transpose_long(plan, int(shape, c_int64_t), element_bytes, axes)
  end function

  integer(c_int) function job_run(job) result(status)
    type(c_ptr), intent(in) :: job
    status = c_job_run(job, c_null_funptr, c_null_ptr)
  end function

  ! Axes in C's order. C counts negative ones from the end; one that there is not stays such.
  pure function in_c(axes) result(c)
    integer, intent(in) :: axes(:)
    integer(c_int) :: c(size(axes))
    c = int(size(axes) - axes(size(axes):1:-1), c_int)
    where (c < 0) c = size(axes, kind=c_int)
  end function

  function string(text)
    type(c_ptr), intent(in) :: text
    character(len=:), allocatable :: string
    character(kind=c_char), pointer :: bytes(:)
    integer :: i
    call c_f_pointer(text, bytes, [strlen(text)])
    allocate (character(len=size(bytes)) :: string)
    do i = 1, size(bytes)
      string(i:i) = bytes(i)
    end do
  end function

  function xorder_version_string() result(text)
    character(len=:), allocatable :: text
    text = string(c_version_string())
  end function
  function xorder_status_text(status) result(text)
    integer(c_int), intent(in) :: status
    character(len=:), allocatable :: text
    text = string(c_status_text(status))
  end function
  function xorder_last_error() result(text)
    character(len=:), allocatable :: text
    text = string(c_last_error())
  end function
  function xorder_last_error_path() result(text)
    character(len=:), allocatable :: text
    text = string(c_last_error_path())
  end function
  function xorder_plan_text(plan) result(text)
    type(c_ptr), intent(in) :: plan
    character(len=:), allocatable :: text
    text = string(c_plan_text(plan))
  end function
  function xorder_layout_json(layout) result(text)
    type(c_ptr), intent(in) :: layout
    character(len=:), allocatable :: text
    text = string(c_layout_json(layout))
  end function
  function xorder_layout_path(layout) result(text)
    type(c_ptr), intent(in) :: layout
    character(len=:), allocatable :: text
    text = string(c_layout_path(layout))
  end function
  function xorder_job_plan_text(job) result(text)
    type(c_ptr), intent(in) :: job
    character(len=:), allocatable :: text
    text = string(c_job_plan_text(job))
  end function
  function xorder_job_plan_json(job) result(text)
    type(c_ptr), intent(in) :: job
    character(len=:), allocatable :: text
    text = string(c_job_plan_json(job))
  end function
  function xorder_job_report_json(job) result(text)
    type(c_ptr), intent(in) :: job
    character(len=:), allocatable :: text
    text = string(c_job_report_json(job))
  end function
  function xorder_job_note(job) result(text)
    type(c_ptr), intent(in) :: job
    character(len=:), allocatable :: text
    text = string(c_job_note(job))
  end function
  function xorder_schedule_json(schedule) result(text)
    type(c_ptr), intent(in) :: schedule
    character(len=:), allocatable :: text
    text = string(c_schedule_json(schedule))
  end function

  ! The report is left as it is if the check fails.
  integer(c_int) function xorder_schedule_check(schedule, report) result(status)
    type(c_ptr), intent(in) :: schedule
    character(len=:), allocatable, intent(inout) :: report
    type(c_ptr) :: json
    json = c_null_ptr
    status = c_schedule_check(schedule, json)
    if (status == XORDER_OK) report = string(json)
  end function
end module
