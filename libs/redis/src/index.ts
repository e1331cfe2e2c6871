export { connectRedis, redisServices, type RedisPlace } from './connect-redis';
