// Preloaded into a process, logs what it does to one SQLite file, its WAL and its journal, and what it says on stdout, in
// order: the file to watch is in CUT_FILE, the log in CUT_LOG. A record is: operation, file, offset and length (both
// 64 bits, little-endian), and the bytes of a write.
//   operations: O open, W write, T truncate, S sync, U unlink, A said on stdout
//   files:      1 the database, 2 its -wal, 3 its -journal, 4 stdout
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_FILES 4096
enum { NONE, DATABASE, WAL, JOURNAL, SAID };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int log_file = -1;
static char files[MAX_FILES];

// The function of the C library that one of these stands in front of.
#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static char file_of(const char *path) {
  const char *watched = getenv("CUT_FILE");
  if (watched == NULL || path == NULL || strncmp(path, watched, strlen(watched)) != 0) return NONE;
  const char *rest = path + strlen(watched);
  if (*rest == 0) return DATABASE;
  if (strcmp(rest, "-wal") == 0) return WAL;
  return strcmp(rest, "-journal") == 0 ? JOURNAL : NONE;
}

static char file_at(int fd) { return fd >= 0 && fd < MAX_FILES ? files[fd] : NONE; }

static void record(char operation, char file, int64_t offset, int64_t length, const void *bytes) {
  if (log_file < 0 || file == NONE) return;
  struct __attribute__((packed)) { char operation, file; int64_t offset, length; } head = {operation, file, offset, length};
  pthread_mutex_lock(&lock);
  if (NEXT(write)(log_file, &head, sizeof head) != (ssize_t)sizeof head) abort();
  if (bytes != NULL && length > 0 && NEXT(write)(log_file, bytes, length) != length) abort();
  pthread_mutex_unlock(&lock);
}

__attribute__((constructor)) static void begin(void) {
  const char *path = getenv("CUT_LOG");
  if (path == NULL) return;
  log_file = NEXT(open)(path, O_WRONLY | O_CREAT | O_APPEND, 0600);
  files[STDOUT_FILENO] = SAID;
}

static int opened(int fd, const char *path) {
  if (fd < 0 || fd >= MAX_FILES) return fd;
  files[fd] = file_of(path);
  record('O', files[fd], 0, 0, NULL);
  return fd;
}

#define OPEN(name)                                        \
  int name(const char *path, int flags, ...) {            \
    va_list rest;                                         \
    va_start(rest, flags);                                \
    int mode = va_arg(rest, int);                         \
    va_end(rest);                                         \
    return opened(NEXT(name)(path, flags, mode), path);   \
  }
OPEN(open)
OPEN(open64)

#define PWRITE(name, offset_type)                                                 \
  ssize_t name(int fd, const void *bytes, size_t length, offset_type offset) {    \
    ssize_t written = NEXT(name)(fd, bytes, length, offset);                      \
    if (written > 0) record('W', file_at(fd), offset, written, bytes);            \
    return written;                                                               \
  }
PWRITE(pwrite, off_t)
PWRITE(pwrite64, off64_t)

ssize_t write(int fd, const void *bytes, size_t length) {
  ssize_t written = NEXT(write)(fd, bytes, length);
  char file = file_at(fd);
  if (written > 0 && file == SAID) record('A', file, 0, written, bytes);
  else if (written > 0 && file != NONE) record('W', file, lseek(fd, 0, SEEK_CUR) - written, written, bytes);
  return written;
}

#define SYNC(name)                                   \
  int name(int fd) {                                 \
    int result = NEXT(name)(fd);                     \
    if (result == 0) record('S', file_at(fd), 0, 0, NULL); \
    return result;                                   \
  }
SYNC(fsync)
SYNC(fdatasync)

#define TRUNCATE(name, offset_type)                          \
  int name(int fd, offset_type length) {                     \
    int result = NEXT(name)(fd, length);                     \
    if (result == 0) record('T', file_at(fd), length, 0, NULL); \
    return result;                                           \
  }
TRUNCATE(ftruncate, off_t)
TRUNCATE(ftruncate64, off64_t)

int close(int fd) {
  if (fd >= 0 && fd < MAX_FILES && files[fd] != SAID) files[fd] = NONE;
  return NEXT(close)(fd);
}

int unlink(const char *path) {
  int result = NEXT(unlink)(path);
  if (result == 0) record('U', file_of(path), 0, 0, NULL);
  return result;
}
