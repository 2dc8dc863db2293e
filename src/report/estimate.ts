export { estimateFeeds, type FeedEstimate, type ForecastOptions } from '../status/estimate.ts';
