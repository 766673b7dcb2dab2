# Serving without any package: linear regression on columns of numbers.
#   Rscript --vanilla lm_serving_base.R
columns <- function(text) { # "size":[31.5,null,70] and so on
  pairs <- regmatches(text, gregexpr('"[^"]*":\\[[^]]*\\]', text))[[1]]
  numbers <- lapply(sub('^"[^"]*":\\[(.*)\\]$', "\\1", pairs), function(list) {
    scan(text = list, sep = ",", na.strings = "null", quiet = TRUE)
  })
  names(numbers) <- sub('^"([^"]*)":.*$', "\\1", pairs)
  list2DF(numbers)
}
whole <- function(name, line) as.integer(sub(sprintf('.*?"%s":([0-9]+).*', name), "\\1", line, perl = TRUE))

requests <- file("stdin", open = "r")
while (length(line <- readLines(requests, n = 1)) > 0) {
  reply <- tryCatch({
    tables <- strsplit(line, '},"test":{', fixed = TRUE)[[1]]
    train <- columns(tables[1])
    test <- columns(tables[2])
    set.seed(whole("seed", line))

    response <- as.name(names(train)[ncol(train)]) # the response is always the last column
    model <- lm(as.formula(call("~", response, quote(.))), data = train)
    numbers <- sprintf("%.17g", predict(model, test))
    numbers[numbers %in% c("NA", "NaN")] <- "null"
    sprintf('"predictions":[%s]', paste(numbers, collapse = ","))
  }, error = function(e) {
    sprintf('"error":%s', encodeString(conditionMessage(e), quote = '"'))
  })
  cat(sprintf('{"id":%d,%s}\n', whole("id", line), reply))
  flush(stdout())
}
