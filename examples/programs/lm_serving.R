# Serving: linear regression, one process for all fits.
#   Rscript --vanilla lm_serving.R
requests <- file("stdin", open = "r")
while (length(line <- readLines(requests, n = 1)) > 0) {
  request <- jsonlite::fromJSON(line)
  train <- list2DF(request$train)
  test <- list2DF(request$test)
  set.seed(request$seed)

  reply <- tryCatch({
    response <- as.name(request$response)
    model <- lm(as.formula(call("~", response, quote(.))), data = train)
    numbers <- sprintf("%.17g", predict(model, test)) # toJSON() would keep 15 digits
    numbers[numbers %in% c("NA", "NaN")] <- "null"
    sprintf('"predictions":[%s]', paste(numbers, collapse = ","))
  }, error = function(e) {
    sprintf('"error":%s', jsonlite::toJSON(conditionMessage(e), auto_unbox = TRUE))
  })
  cat(sprintf('{"id":%d,%s}\n', request$id, reply))
  flush(stdout())
}
