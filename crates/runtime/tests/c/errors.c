// What synchronisation functions answer when they fail, and that they leave errno alone.
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <threads.h>
#include <time.h>

static void *nothing(void *unused) { return unused; }
static int three(void *unused) { (void)unused; return 3; }
static once_flag flag = ONCE_FLAG_INIT;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static int count;
static void counts(void) { count++; }
static void nested(void) { call_once(&flag, counts); count += 10; }

int main(void) {
    struct timespec past = {1, 0}, wrong = {1, -1};
    pthread_mutex_t checking = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP, recursive = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
    pthread_mutex_t plain = PTHREAD_MUTEX_INITIALIZER;
    pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
    pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
    pthread_barrier_t barrier;
    sem_t semaphore;
    pthread_t thread;
    errno = 55;
    printf("%d ", pthread_mutex_unlock(&checking) == EPERM);
    pthread_mutex_lock(&checking);
    printf("%d ", pthread_mutex_lock(&checking) == EDEADLK);
    printf("%d ", pthread_cond_timedwait(&cond, &checking, &past) == ETIMEDOUT);
    printf("%d ", pthread_cond_timedwait(&cond, &checking, &wrong) == EINVAL);
    printf("%d ", pthread_cond_clockwait(&cond, &checking, CLOCK_MONOTONIC, &past) == ETIMEDOUT);
    printf("%d\n", pthread_mutex_unlock(&checking));
    printf("%d ", pthread_cond_wait(&cond, &checking) == EPERM);
    printf("%d", pthread_mutex_lock(&recursive));
    printf("%d ", pthread_mutex_lock(&recursive));
    printf("%d", pthread_mutex_unlock(&recursive));
    printf("%d", pthread_mutex_unlock(&recursive));
    printf("%d\n", pthread_mutex_unlock(&recursive) == EPERM);
    pthread_mutex_lock(&plain);
    printf("%d %d %d\n", pthread_mutex_trylock(&plain) == EBUSY, pthread_mutex_timedlock(&plain, &past) == ETIMEDOUT,
           pthread_mutex_clocklock(&plain, CLOCK_MONOTONIC, &past) == ETIMEDOUT);
    pthread_rwlock_wrlock(&rwlock);
    printf("%d %d %d %d\n", pthread_rwlock_tryrdlock(&rwlock) == EBUSY, pthread_rwlock_trywrlock(&rwlock) == EBUSY,
           pthread_rwlock_rdlock(&rwlock) == EDEADLK, pthread_rwlock_wrlock(&rwlock) == EDEADLK);
    pthread_rwlock_unlock(&rwlock);
    printf("%d ", pthread_rwlock_rdlock(&rwlock));
    printf("%d\n", pthread_rwlock_timedwrlock(&rwlock, &past) == ETIMEDOUT);
    printf("%d\n", pthread_barrier_init(&barrier, NULL, 0) == EINVAL);
    pthread_barrier_init(&barrier, NULL, 1);
    printf("%d\n", pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD);
    printf("%d\n", pthread_join(pthread_self(), NULL) == EDEADLK);
    pthread_create(&thread, NULL, nothing, NULL);
    pthread_join(thread, NULL);
    printf("%d\n", errno);
    sem_init(&semaphore, 0, 0);
    printf("%d ", sem_trywait(&semaphore));
    printf("%d\n", errno == EAGAIN);
    printf("%d ", sem_timedwait(&semaphore, &past));
    printf("%d\n", errno == ETIMEDOUT);
    printf("%d ", sem_post(&semaphore));
    printf("%d\n", sem_wait(&semaphore));
    int value;
    printf("%d ", thrd_create(&thread, three, NULL));
    printf("%d ", thrd_join(thread, &value));
    printf("%d\n", value);
    pthread_once(&once, nested);
    pthread_once(&once, nested);
    call_once(&flag, counts);
    printf("%d\n", count);
    return 0;
}
