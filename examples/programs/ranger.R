# Serving: a random forest. The same seed grows the same forest.
#   Rscript --vanilla ranger.R
suppressPackageStartupMessages(library(ranger))

requests <- file("stdin", open = "r")
while (length(line <- readLines(requests, n = 1)) > 0) {
  request <- jsonlite::fromJSON(line)
  train <- list2DF(request$train)
  test <- list2DF(request$test)

  reply <- tryCatch({
    # One thread: poise already keeps every core busy with fits.
    forest <- ranger(
      dependent.variable.name = request$response, data = train,
      num.trees = 100, num.threads = 1, seed = request$seed
    )
    numbers <- predict(forest, test, num.threads = 1, seed = request$seed)$predictions
    sprintf('"predictions":[%s]', paste(sprintf("%.17g", numbers), collapse = ","))
  }, error = function(e) {
    sprintf('"error":%s', jsonlite::toJSON(conditionMessage(e), auto_unbox = TRUE))
  })
  cat(sprintf('{"id":%d,%s}\n', request$id, reply))
  flush(stdout())
}
